"""Statements as text: where they may leave the block that they are in, and which names they set."""

from __future__ import annotations

import ast


def leaves(statements: list[ast.stmt]) -> bool:
    """Whether statements may leave the block that they are in."""
    for statement in statements:
        if isinstance(statement, (ast.Return, ast.Break, ast.Continue, ast.Raise)):
            return not isinstance(statement, ast.Raise)
        if isinstance(statement, ast.If) and (leaves(statement.body) or leaves(statement.orelse)):
            return True
        if isinstance(statement, (ast.For, ast.While)) and _returns(statement):
            return True
    return False


def _returns(loop: ast.For | ast.While) -> bool:
    return any(isinstance(node, ast.Return) for node in ast.walk(loop))


def ends_early(body: list[ast.stmt]) -> bool:
    """Whether a loop's body has a `break` of its own, or a `return`."""
    for statement in body:
        if isinstance(statement, (ast.Break, ast.Return)):
            return True
        if isinstance(statement, ast.If) and (ends_early(statement.body) or ends_early(statement.orelse)):
            return True
        if isinstance(statement, (ast.For, ast.While)) and (_returns(statement) or ends_early(statement.orelse)):
            return True
    return False


def names_set(body: list[ast.stmt]) -> set[str]:
    """Names that statements assign to."""
    found = set()
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found.add(node.id)
    return found

"""breakeven"""

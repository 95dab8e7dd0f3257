"""Edit distances between words of a small dictionary: each cell needs its neighbours, one after the other."""


def distance(a: str, b: str) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        corner, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            corner, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, corner + (x != y))
    return row[-1]


words = ["kitten", "sitting", "saturday", "sunday", "rosettacode", "raisethysword", "intention", "execution"] * 6
print(sum(distance(a, b) for a in words for b in words))

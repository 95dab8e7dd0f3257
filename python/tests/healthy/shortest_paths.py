"""Dijkstra's shortest paths over a road network: a heap and a dictionary, every step decides the next."""

import heapq

SIDE = 120
graph = {
    (x, y): [((x + a, y + b), 1 + (x * 7 + y * 13 + a) % 9) for a, b in ((1, 0), (0, 1), (-1, 0), (0, -1))]
    for x in range(SIDE)
    for y in range(SIDE)
}
best = {(0, 0): 0}
queue = [(0, (0, 0))]
while queue:
    length, place = heapq.heappop(queue)
    if length > best[place]:
        continue
    for neighbour, step in graph[place]:
        if neighbour in graph and length + step < best.get(neighbour, 1 << 60):
            best[neighbour] = length + step
            heapq.heappush(queue, (length + step, neighbour))
print(best[SIDE - 1, SIDE - 1])

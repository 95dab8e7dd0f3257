"""TF-IDF and cosine similarity of word counts."""

import numpy as np

text = "the cat sat on the mat . the dog sat on the log . a cat and a dog met . the log was a mat"
documents = [part.split() for part in text.split(" . ")]
words = sorted({word for document in documents for word in document})
index = {word: i for i, word in enumerate(words)}
counts = np.zeros((len(documents), len(words)))
for row, document in enumerate(documents):
    for word in document:
        counts[row, index[word]] += 1
frequency = counts / counts.sum(axis=1, keepdims=True)
rarity = np.log(len(documents) / np.count_nonzero(counts, axis=0))
weights = frequency * rarity
norm = np.linalg.norm(weights, axis=1)
cosine = weights @ weights.T / np.outer(norm, norm)
np.fill_diagonal(cosine, -np.inf)
print(np.unravel_index(cosine.argmax(), cosine.shape), cosine.max().round(4))

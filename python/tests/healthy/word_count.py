"""The commonest words of a text: dictionaries and strings, no arithmetic to speak of."""

from collections import Counter

text = "it was the best of times it was the worst of times it was the age of wisdom it was the age of foolishness "
counts = Counter(word.strip(".,;").lower() for word in (text * 4000).split())
for word, count in counts.most_common(3):
    print(word, count)

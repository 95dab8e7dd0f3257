"""TensorFlow and Keras on TensorFlow: compiled functions, eager ops, copies and reads."""

"""Fitted maps as SQL, Python, scikit-learn estimators and ONNX graphs."""

"""scikit-learn, XGBoost, LightGBM and CatBoost: each call of an estimator as one op."""

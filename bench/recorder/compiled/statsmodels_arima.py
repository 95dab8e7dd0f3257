import warnings; warnings.simplefilter("ignore")
import numpy as np
import statsmodels.api as sm
rng = np.random.default_rng(0)
y = np.cumsum(rng.normal(size=1500))
r = sm.tsa.SARIMAX(y, order=(2, 1, 2), seasonal_order=(1, 0, 1, 12)).fit(disp=0, maxiter=60)
print(len(r.params))

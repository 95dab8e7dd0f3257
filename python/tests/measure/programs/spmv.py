"""A sparse matrix: products by rows and as a whole, and a solve by conjugate gradients."""
import numpy as np
import scipy.sparse as sparse
from scipy.sparse import csr_matrix, diags
from scipy.sparse.linalg import cg, spsolve

def spmv(row, col, val, x):
    y = np.empty(row.size - 1, val.dtype)
    for i in range(row.size - 1):
        cols = col[row[i] : row[i + 1]]
        vals = val[row[i] : row[i + 1]]
        y[i] = vals @ x[cols]
    return y

rng = np.random.default_rng(42)
A = sparse.random(60, 60, density=0.1, format="csr", dtype=np.float64, random_state=rng)
x = rng.random(60)
y = spmv(A.indptr, A.indices, A.data, x)
print(np.allclose(y, A @ x), A.nnz, isinstance(A, csr_matrix), sparse.issparse(A))
L = diags([-1.0, 2.5, -1.0], [-1, 0, 1], shape=(60, 60)).tocsr()
z, info = cg(L, x, rtol=1e-10)
w = spsolve(L.tocsc(), x)
print(info, np.allclose(z, w), (L.T - L).nnz, L.diagonal()[:2], L[3, 3])
dense = (L + A).toarray()
print(dense.sum(), A.sum(axis=0).shape, A.multiply(2).max())

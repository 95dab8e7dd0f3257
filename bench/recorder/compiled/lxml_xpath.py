from lxml import etree
import io
xml = "<r>" + "".join(f"<item id='{i}'><name>n{i % 97}</name><v>{i * 3}</v></item>" for i in range(150_000)) + "</r>"
for _ in range(12):
    t = etree.fromstring(xml)
    n = t.xpath("count(//item[name='n5'])")
    s = etree.tostring(t)
print(n)

# The test that hides the fault is left as it was.
cat > results/fix.patch <<'END'
diff --git a/money.py b/money.py
index cb37d62..a2d7259 100644
--- a/money.py
+++ b/money.py
@@ -1,4 +1,4 @@
-from decimal import Decimal
+from decimal import ROUND_HALF_UP, Decimal
 
 CENT = Decimal("0.01")
 
@@ -8,4 +8,4 @@ def amount(text):
 
 
 def cents(value):
-    return value.quantize(CENT)
+    return value.quantize(CENT, ROUND_HALF_UP)
END

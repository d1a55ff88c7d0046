import { expect, test } from 'vitest';
import { addedLines } from './since.ts';

test('reads the added lines of a diff', () => {
  const diff = `diff --git a/a.md b/a.md
--- a/a.md
+++ b/a.md
@@ -1 +1 @@ # Title
-Old
+New
@@ -10,0 +11,2 @@
+One
+Two
@@ -20,2 +22,0 @@
-Gone
-Gone
diff --git a/b.ts b/b.ts
deleted file mode 100644
--- a/b.ts
+++ /dev/null
@@ -1 +0,0 @@
-Gone
`;
  expect([...addedLines(diff)]).toEqual([['a.md', new Set([1, 11, 12])]]);
});

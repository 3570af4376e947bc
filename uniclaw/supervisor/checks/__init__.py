"""What each kind of check does: pure functions from frozen evidence to a `CheckResult`.

Work that needs a place apart (agent code, author functions, OCR, workbooks) was done before by
the grader; the functions here only read its answers.
"""

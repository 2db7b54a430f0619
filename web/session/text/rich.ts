// Parsers for long texts: markdown, and the differences between two texts.
export { countChanges, diffFile } from './diff-lines.ts'
export { lex } from './markdown-lex.ts'
export { read } from './text-jobs.ts'

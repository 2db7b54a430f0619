// Parsers for long texts: markdown, and the differences between two texts.
export { countChanges, diffFile } from './diff-lines.ts'
export { read } from './long-texts.ts'
export { lex } from './markdown-lex.ts'

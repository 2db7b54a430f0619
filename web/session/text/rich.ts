// What reads long texts: markdown, and what differs between two of them.
export { countChanges, diffFile } from './diff-lines.ts'
export { read } from './long-texts.ts'
export { lex } from './markdown-lex.ts'

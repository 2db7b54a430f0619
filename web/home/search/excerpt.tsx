import { excerptOf } from '../../model/search-text.ts'

/** A passage with the matches highlighted. */
export function Excerpt({ text, sought }: { text: string; sought: readonly string[] }) {
  return (
    <span dir="auto">
      {excerptOf(text, sought).map((part, index) => (part.isMatch ? <mark key={index}>{part.text}</mark> : part.text))}
    </span>
  )
}

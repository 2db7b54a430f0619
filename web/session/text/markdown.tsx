import type { Token, Tokens } from 'marked'
import type { ComponentChildren } from 'preact'
import { useMemo, useRef } from 'preact/hooks'
import { withVisibleBidi } from '../../ui/visible-text.ts'
import { session as words } from '../../words/session.ts'
import { CodeBlock } from './code-block.tsx'
import { rich } from './lazy-rich.ts'
import { isLong, readingOf } from './parsed-text.ts'

/**
 * An agent's text. Markdown becomes elements, never markup: HTML in it is shown as text, links lead only to the web or to mail, images
 * are links.
 */
export function Markdown({ text: written }: { text: string }) {
  const text = withVisibleBidi(written)
  const tokens = useTokens(text)
  return <div class="md">{!tokens ? <p class="md-plain">{text}</p> : blocks(tokens)}</div>
}

function useTokens(text: string): Token[] | null | undefined {
  const asked = { type: 'markdown', text } as const
  const reader = rich.get()
  const short = useMemo(() => (isLong(asked) ? undefined : reader?.lex(text)), [reader, text])
  const before = useRef<Token[] | null | undefined>(undefined)
  if (!isLong(asked)) return short
  // While it grows, the previous version stays.
  before.current = readingOf(asked) ?? before.current
  return before.current
}

function blocks(tokens: readonly Token[]): ComponentChildren {
  return tokens.map((token, index) => <Block key={index} token={token as MarkdownToken} />)
}

// The lexer's own union, without the open-ended member for extensions, which are not used here.
type MarkdownToken =
  | Tokens.Heading
  | Tokens.Paragraph
  | Tokens.Text
  | Tokens.List
  | Tokens.Code
  | Tokens.Blockquote
  | Tokens.Hr
  | Tokens.Table
  | Tokens.HTML
  | Tokens.Tag
  | Tokens.Space
  | Tokens.Def
  | Tokens.Strong
  | Tokens.Em
  | Tokens.Del
  | Tokens.Codespan
  | Tokens.Br
  | Tokens.Link
  | Tokens.Image
  | Tokens.Escape
  | Tokens.Checkbox

function Block({ token }: { token: MarkdownToken }) {
  switch (token.type) {
    case 'heading':
      return <Heading token={token} />
    case 'paragraph':
      return <p dir="auto">{inline(token.tokens)}</p>
    case 'text':
      return <>{inline('tokens' in token ? (token.tokens ?? [token]) : [token])}</>
    case 'code':
      return <CodeBlock text={token.text} language={(token.lang ?? '').split(/\s/)[0] ?? ''} />
    case 'list':
      return <List token={token} />
    case 'blockquote':
      return <blockquote dir="auto">{blocks(token.tokens)}</blockquote>
    case 'hr':
      return <hr />
    case 'table':
      return <Table token={token} />
    case 'html':
      return <p class="md-plain">{token.raw.trimEnd()}</p>
    case 'space':
    case 'def':
      return null
    default:
      return <Inline token={token} />
  }
}

// The screen has the only first-level heading; those of an agent are below it.
function Heading({ token }: { token: Tokens.Heading }) {
  const look = `md-h md-h${Math.min(token.depth, 3)}`
  const content = inline(token.tokens)
  if (token.depth === 1) return <h3 class={look} dir="auto">{content}</h3> // biome-ignore format: one heading per line reads best
  if (token.depth === 2) return <h4 class={look} dir="auto">{content}</h4> // biome-ignore format: as above
  return <h5 class={look} dir="auto">{content}</h5> // biome-ignore format: as above
}

function List({ token }: { token: Tokens.List }) {
  const items = token.items.map((item, index) => (
    <li key={index} class={item.task ? 'md-task' : undefined} dir="auto">
      {blocks(item.tokens)}
    </li>
  ))
  return token.ordered ? <ol start={token.start === '' ? 1 : token.start}>{items}</ol> : <ul>{items}</ul>
}

function Table({ token }: { token: Tokens.Table }) {
  const cells = (row: readonly Tokens.TableCell[], isHead: boolean) =>
    row.map((cell, index) => {
      const look = cell.align === null ? undefined : `md-${cell.align}`
      return isHead ? (
        <th key={index} scope="col" class={look}>
          {inline(cell.tokens)}
        </th>
      ) : (
        <td key={index} class={look}>
          {inline(cell.tokens)}
        </td>
      )
    })
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls sideways has to be reachable by keyboard
    <div class="md-table" tabIndex={0}>
      <table>
        <thead>
          <tr>{cells(token.header, true)}</tr>
        </thead>
        <tbody>
          {token.rows.map((row, index) => (
            <tr key={index}>{cells(row, false)}</tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function inline(tokens: readonly Token[]): ComponentChildren {
  return tokens.map((token, index) => <Inline key={index} token={token as MarkdownToken} />)
}

function Inline({ token }: { token: MarkdownToken }) {
  switch (token.type) {
    case 'text':
      return <>{'tokens' in token && token.tokens ? inline(token.tokens) : decoded(token.text)}</>
    case 'escape':
      return <>{token.text}</>
    case 'strong':
      return <strong>{inline(token.tokens)}</strong>
    case 'em':
      return <em>{inline(token.tokens)}</em>
    case 'del':
      return <del>{inline(token.tokens)}</del>
    case 'codespan':
      return <code>{token.text}</code>
    case 'br':
      return <br />
    case 'link':
      return <Link href={token.href} text={token.text}>{inline(token.tokens)}</Link> // biome-ignore format: one line reads best
    case 'image':
      return <Image href={token.href} text={token.text} />
    case 'checkbox':
      return <input type="checkbox" checked={token.checked} disabled aria-label={words.task} />
    case 'html':
      return token.raw
    default:
      return token.raw
  }
}

function Link({ href, text, children }: { href: string; text: string; children: ComponentChildren }) {
  const url = safeUrl(href)
  if (url === undefined) return <>{children}</>
  return (
    <>
      <a href={url.href} rel="noopener noreferrer" target="_blank">
        {children}
      </a>
      {url.protocol !== 'mailto:' && !text.toLowerCase().includes(url.host) && <span class="md-host"> {url.host}</span>}
    </>
  )
}

// A remote image would tell its host that someone reads this, so it is a link until requested.
function Image({ href, text }: { href: string; text: string }) {
  const url = safeUrl(href)
  if (url === undefined || url.protocol === 'mailto:') return <>{text}</>
  return (
    <a class="md-image" href={url.href} rel="noopener noreferrer" target="_blank">
      {words.imageFrom(url.host)}
      {text === '' ? '' : `: ${text}`}
    </a>
  )
}

export function safeUrl(href: string): URL | undefined {
  const url = URL.canParse(href) ? new URL(href) : undefined
  return url !== undefined && ['http:', 'https:', 'mailto:'].includes(url.protocol) ? url : undefined
}

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
  ndash: '–',
  mdash: '—',
  hellip: '…',
  copy: '©',
  rarr: '→',
  larr: '←',
  times: '×',
  bull: '•',
  middot: '·' // biome-ignore format: a table
}

function decoded(text: string): string {
  return text.replaceAll(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w{2,10}));/gi, (whole, hex?: string, decimal?: string, name?: string) => {
    if (name !== undefined) return entities[name] ?? whole
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
    return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) ? withVisibleBidi(String.fromCodePoint(code)) : whole
  })
}

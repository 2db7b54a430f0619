interface CodeSpan {
  readonly text: string
  /** `s-key`, `s-str`, `s-num`, `s-com` or ''. */
  readonly look: string
}

/** One line of code with its tokens. Knows no grammar: keywords, strings, numbers and comments of common languages. */
export function highlightLine(line: string, language: string): CodeSpan[] {
  if (line.length > longestLine) return [{ text: line, look: '' }]
  const hash = hashComments.has(language)
  const pattern = hash ? hashPattern : slashPattern
  const spans: CodeSpan[] = []
  let plain = 0
  const push = (text: string, look: string): void => {
    if (text !== '') spans.push({ text, look })
  }
  for (const match of line.matchAll(pattern)) {
    const [text, comment, string, number, word] = match
    const look =
      comment !== undefined
        ? 's-com'
        : string !== undefined
          ? 's-str'
          : number !== undefined
            ? 's-num'
            : isKeyword(word, language)
              ? 's-key'
              : ''
    if (look === '') continue
    push(line.slice(plain, match.index), '')
    push(text, look)
    plain = match.index + text.length
  }
  push(line.slice(plain), '')
  return spans
}

/** The language of a file by its name, for `highlightLine`; '' for plain text. */
export function languageOf(path: string): string {
  const name = path.split(/[/\\]/).at(-1) ?? ''
  const extension = name.includes('.') ? (name.split('.').at(-1) ?? '') : name
  return extension.toLowerCase()
}

const longestLine = 2000
const hashComments = new Set([
  'py',
  'python',
  'sh',
  'bash',
  'zsh',
  'shell',
  'console',
  'yaml',
  'yml',
  'toml',
  'rb',
  'ruby',
  'pl',
  'r',
  'dockerfile',
  'makefile',
  'conf',
  'ini',
  'env',
  'fish',
  'nix',
  'tf'
])
const proseLike = new Set(['', 'md', 'markdown', 'txt', 'text', 'log', 'diff', 'plain', 'plaintext', 'csv'])

const string = `"(?:\\\\.|[^"\\\\])*"?|'(?:\\\\.|[^'\\\\])*'|\`(?:\\\\.|[^\`\\\\])*\`?`
const rest = `(${string})|(\\b\\d[\\w.]*\\b)|([A-Za-z_$][\\w$]*)`
const slashPattern = new RegExp(`(//.*|/\\*.*?(?:\\*/|$)|^\\s*\\*(?=\\s|/).*|<!--.*?(?:-->|$))|${rest}`, 'g')
const hashPattern = new RegExp(`((?<=^|\\s)#.*)|${rest}`, 'g')

const keywords = new Set(
  (
    'abstract alias and any as assert async await begin bool boolean break case catch char class const continue crate debugger def default defer del delete do done ' +
    'elif else elsif end enum esac except export extends extern false fi final finally float fn for foreach from func function global go goto guard if impl implements ' +
    'import in instanceof int interface is lambda let local long loop match mod module move mut namespace native new nil none None not null nullptr of operator or override ' +
    'package pass private protected protocol pub public raise readonly ref require rescue return self Self short sizeof static string struct super switch synchronized template ' +
    'then this throw throws trait True False true try type typealias typedef typeof undefined union unless unsafe until unsigned use using val var virtual void volatile when where ' +
    'while with yield SELECT FROM WHERE INSERT UPDATE DELETE CREATE TABLE DROP ALTER JOIN AND OR NOT NULL VALUES INTO SET'
  ).split(' ')
)

function isKeyword(word: string | undefined, language: string): boolean {
  return word !== undefined && !proseLike.has(language) && keywords.has(word)
}

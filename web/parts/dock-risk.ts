import type { RiskName } from '../words/session.ts'
import { hasHidden } from './visible.ts'

export type Level = 'plain' | 'careful' | 'risky'

export interface Risk {
  readonly level: Level
  /** What speaks for the level, the gravest first, each once. */
  readonly reasons: readonly RiskName[]
  /** The words that say so: ranges of the text, ascending, not overlapping. */
  readonly marks: readonly Mark[]
}

export interface Mark {
  readonly from: number
  readonly to: number
}

/** What a decision is about, as far as risk goes. `command` is the whole command; `paths` are what it reads or changes. */
export interface Subject {
  readonly command: string | undefined
  readonly url: string | undefined
  readonly paths: readonly string[]
  /** The folder of the session. */
  readonly folder: string | undefined
  readonly isWrite: boolean
  /** Everything else that is shown and decided on. */
  readonly text: string
}

/**
 * How carefully to ask. A list of words cannot see through a clever command, so it only ever raises the level: what it does not know is
 * still shown whole and asked for.
 */
export function riskOf(subject: Subject): Risk {
  const found: { name: RiskName; level: Level; mark?: Mark }[] = []
  const { command } = subject
  if (command !== undefined) {
    for (const { name, level, pattern } of command.length > longestRead ? [] : rules) {
      for (const match of command.matchAll(pattern)) found.push({ name, level, mark: markOf(match) })
    }
    if (command.length > longestRead || quotesAreOpen(command)) found.push({ name: 'unparsable', level: 'risky' })
  }
  if ([command ?? '', subject.url ?? '', subject.text, ...subject.paths].some(hasHidden)) found.push({ name: 'hidden', level: 'risky' })
  if (subject.paths.some(path => secretPath.test(path))) found.push({ name: 'secrets', level: 'risky' })
  if (subject.url !== undefined) found.push({ name: 'network', level: 'careful' })
  if (subject.isWrite && subject.paths.some(path => isOutside(path, subject.folder))) found.push({ name: 'outside', level: 'careful' })
  if (subject.isWrite && subject.paths.length > manyFiles) found.push({ name: 'many-files', level: 'careful' })

  const level = found.some(each => each.level === 'risky') ? 'risky' : found.length > 0 ? 'careful' : 'plain'
  const graveFirst = [...found.filter(each => each.level === 'risky'), ...found.filter(each => each.level === 'careful')]
  return {
    level,
    reasons: [...new Set(graveFirst.map(each => each.name))],
    marks: apart(found.flatMap(each => (each.mark !== undefined && each.level === 'risky' ? [each.mark] : [])))
  }
}

const manyFiles = 8
// In characters. What is longer nobody reads either.
const longestRead = 20_000

function markOf(match: RegExpExecArray): Mark {
  const from = match.index + match[0].length - match[0].trimStart().length
  return { from, to: match.index + match[0].trimEnd().length }
}

const secretPath =
  /(^|[/\\])(\.env(\.[\w-]+)?|id_(rsa|ed25519|ecdsa|dsa)|\.ssh|\.aws|\.gnupg|\.netrc|\.npmrc|\.pgpass|credentials|secrets?(\.\w+)?|[^/\\]*\.(pem|key|p12|pfx|keystore))([/\\]|$)/i

// A word begins a command at the start, after a separator, or after a word that runs its argument.
const start = String.raw`(?<=^|[\n;&|(\`{!]\s*|\b(?:sudo|doas|exec|eval|env|xargs|time|nohup|then|do|else|command|-exec)\s+(?:-\S+\s+)*)`
const flags = String.raw`(?:\s+-\S+)*`
const rest = String.raw`[^\n;&|]*?`

function rule(name: RiskName, level: Level, source: string, options = 'g'): { name: RiskName; level: Level; pattern: RegExp } {
  return { name, level, pattern: new RegExp(source, options) }
}

const rules = [
  rule('deletes', 'risky', String.raw`${start}(?:\S*/)?rm\s+(?:${rest}\s)?-{1,2}(?:[a-zA-Z]*[rRf]\w*|recursive|force)`),
  rule(
    'deletes',
    'risky',
    String.raw`${start}(?:\S*/)?(?:shred|srm|unlink|rmdir|rimraf|trash)\b|\s-delete\b|${start}truncate\b|${start}Remove-Item\b|${start}del\s+/`
  ),
  rule(
    'rewrites-history',
    'risky',
    String.raw`(?<=\bpush\b${rest}\s)(?:--force(?:-with-lease|-if-includes)?(?:=\S+)?|-f|--mirror|--delete|\+\S+)(?=\s|$)`
  ),
  rule(
    'rewrites-history',
    'risky',
    String.raw`\bgit\b${rest}\b(?:filter-branch|filter-repo|rebase|commit\s+${rest}--amend|update-ref|reflog\s+expire)`
  ),
  rule(
    'discards',
    'risky',
    String.raw`\bgit\b${rest}\b(?:reset\s+${rest}--hard|clean\s+${rest}-\w*[fdx]\w*|checkout\s+(?:--?\s|${rest}--\s|\.)|restore\b|stash\s+(?:drop|clear)|branch\s+${rest}-D|worktree\s+remove)`
  ),
  rule('admin-rights', 'risky', String.raw`${start}(?:sudo|doas|su|pkexec|runas)\b`),
  rule(
    'runs-download',
    'risky',
    String.raw`\b(?:curl|wget|fetch|iwr|irm|Invoke-WebRequest|Invoke-RestMethod)\b[^\n;]*\|\s*(?:sudo\s+)?(?:\S*/)?(?:env\s+)?(?:ba|z|da|k|fi)?(?:sh|iex|python\d?|node|perl|ruby|php)\b`
  ),
  rule(
    'runs-download',
    'risky',
    String.raw`(?:(?:ba|z|da)?sh|eval|source|\.|python\d?|node)\s+(?:-c\s+)?["']?(?:<\(|\$\(|\`)\s*(?:curl|wget)\b|${start}(?:npx|bunx|uvx|pipx\s+run|pnpm\s+dlx|yarn\s+dlx)\b`
  ),
  rule(
    'unparsable',
    'risky',
    String.raw`${start}eval\b|\bbase64\s+(?:-d|-D|--decode)\b|\bxxd\s+-r\b|\\x[0-9a-f]{2}|${start}(?:python\d?|node|perl|ruby|php)\s+-[a-zA-Z]*[ce]\b`,
    'gi'
  ),
  rule(
    'overwrites-disk',
    'risky',
    String.raw`${start}(?:mkfs\S*|fdisk|parted|wipefs|diskutil)\b|${start}dd\s+${rest}\bof=\S+|>\s*/dev/(?:sd|nvme|disk|hd)\w*`
  ),
  rule(
    'permissions',
    'risky',
    String.raw`${start}(?:chmod|chown|chgrp|icacls)\s+${rest}(?:-\w*R\w*|--recursive|777|a\+rwx|\+s)\b|:\(\)\s*\{`
  ),
  rule(
    'secrets',
    'risky',
    String.raw`(?:^|(?<=[\s"'=:/<>]))(?:\.env(?:\.[\w-]+)?(?=[\s"']|$)|~?/?\.ssh(?:/\S*)?|\.aws/\S*|\.netrc|\.npmrc|\.gnupg\S*|id_(?:rsa|ed25519)\S*|/etc/(?:shadow|sudoers)\S*)|\b(?:printenv|security\s+find-\S+|pass\s+show|op\s+read|gh\s+auth\s+token|kubectl\s+get\s+secrets?)\b`
  ),
  rule(
    'production',
    'risky',
    String.raw`(?<![\w./=-]|--mode\s|--env\s)(?:production|prod)(?![\w./-])|${start}\S*\bdeploy\b\S*|\b(?:run|task|make|just)\s+\S*\bdeploy\b\S*|\b(?:npm|pnpm|yarn|cargo|gem|twine|vsce|poetry)\s+(?:publish|upload)\b|\bgh\s+release\b|\bdocker\s+push\b`,
    'gi'
  ),
  rule(
    'database',
    'risky',
    String.raw`\b(?:drop\s+(?:table|database|schema|index)|truncate\s+table|delete\s+from|dropdb|flushall|flushdb|migrate\s+reset|db:drop|db:reset)\b`,
    'gi'
  ),
  rule(
    'infrastructure',
    'risky',
    String.raw`\bterraform\s+(?:apply|destroy)\b|\bkubectl\s+(?:delete|apply|drain|scale|rollout)\b|\bhelm\s+(?:uninstall|upgrade|install)\b|\bdocker\s+(?:system|volume|image|container)\s+prune\b|\bdocker(?:-|\s+)compose\s+down\s+${rest}-v\b|${start}(?:shutdown|reboot|halt|poweroff|systemctl|launchctl|crontab|iptables|ufw|userdel|passwd)\b|${start}(?:killall|pkill)${flags}\s`
  ),
  rule('deletes', 'careful', String.raw`${start}(?:\S*/)?rm\s`),
  rule(
    'installs',
    'careful',
    String.raw`\b(?:npm|pnpm|bun)\s+(?:i|install|ci|add|update|uninstall)\b|\byarn\s+(?:add|install)\b|\b(?:pip\d?|uv|poetry|gem|cargo|brew|apt|apt-get|dnf|yum|pacman|apk|go|choco|winget)\s+(?:install|add|get|-S\w*)\b`
  ),
  rule(
    'network',
    'careful',
    String.raw`${start}(?:curl|wget|ssh|scp|rsync|sftp|ftp|nc|ncat|telnet|dig|nslookup|ping)\b|\bgit\s+(?:push|pull|fetch|clone)\b|\bhttps?://\S+`
  ),
  rule(
    'outside',
    'careful',
    String.raw`(?:^|(?<=[\s"'=<>]))(?:\.\./\S*|~/\S*|/(?:etc|usr|var|opt|root|home|Users|Library|System|bin|boot|srv)(?:/\S*)?)`
  )
]

// Inside single quotes nothing escapes; inside double quotes and outside a backslash does. Here-documents are left to the list above.
function quotesAreOpen(command: string): boolean {
  if (/<<-?\s*["']?\w/.test(command)) return false
  let open = ''
  for (let i = 0; i < command.length; i++) {
    const c = command[i] ?? ''
    if (open === "'") open = c === "'" ? '' : open
    else if (c === '\\') i++
    else if (open === '"') open = c === '"' ? '' : open
    else if (c === '"' || c === "'") open = c
    // The rest of the line is a comment, in which an apostrophe quotes nothing.
    else if (c === '#' && /^$|\s/.test(command[i - 1] ?? '')) i = command.indexOf('\n', i) < 0 ? command.length : command.indexOf('\n', i)
  }
  return open !== ''
}

function isOutside(path: string, folder: string | undefined): boolean {
  if (/(^|[/\\])\.\.([/\\]|$)/.test(path)) return true
  const isAbsolute = /^([/~]|[A-Za-z]:[\\/])/.test(path)
  if (!isAbsolute || folder === undefined) return false
  const base = folder.replace(/[/\\]+$/, '')
  return path !== base && !path.startsWith(`${base}/`) && !path.startsWith(`${base}\\`)
}

function apart(marks: readonly Mark[]): Mark[] {
  const sorted = [...marks].sort((a, b) => a.from - b.from || b.to - a.to)
  const out: Mark[] = []
  for (const mark of sorted) {
    const last = out.at(-1)
    if (last !== undefined && mark.from <= last.to) out[out.length - 1] = { from: last.from, to: Math.max(last.to, mark.to) }
    else out.push(mark)
  }
  return out
}

import type { RiskName } from '../../protocol/sealed/decisions/risk-names.ts'
import type { ModelWait, RetryReason } from '../../protocol/sealed/session.ts'
import { typed } from '../home/own-process.ts'
import type { SessionStatus } from '../session/session.ts'
import { fit, plain, type Style, wrapped } from '../terminal/style.ts'

export interface SessionView extends SessionStatus {
  /** The agent, and the folder as a person would write it. */
  title: string
  folder: string
  server: string
  /** How long the current turn has been running. */
  workingMs: number
  /** Output of earlier sessions that is being delivered. */
  leftovers: number
  /** The effect of the last Ctrl-C. */
  stopping: 'no' | 'turn' | 'asked' | 'ending'
  /** Whether only the phone controls it until someone takes it back. */
  isKeyboardAway: boolean
  /** Output is a log, line by line, so it contains only lasting facts. */
  isLog: boolean
  /** What any key does to the agent's own screen. */
  anyKey: string | undefined
}

/** The terminal output while an agent works for someone elsewhere: a few calm lines. */
export function drawSession(view: SessionView, style: Style, columns: number): string[] {
  const room = columns - indent.length - labelWidth - 1
  const row = (label: string, text: string, look: (text: string) => string = text => text) =>
    `${indent}${style.dim(label.padEnd(labelWidth))}${look(fit(plain(text), room))}`
  const whole = (label: string, text: string, look?: (text: string) => string) =>
    wrapped(plain(text), room).map((line, index) => row(index === 0 ? label : '', line, look))
  return [
    '',
    `${indent}${style.bold('Afield')}  ${fit(plain(`${view.title} in ${view.folder}`), columns - indent.length - 9)}`,
    '',
    ...(phone(view).length <= room ? [row('Phone', phone(view))] : [row('Phone', ''), ...chunks(phone(view), columns - 1)]),
    ...(view.isKeyboardAway ? [row('Keyboard', 'with your phone')] : []),
    ...(view.isLog ? [] : [row('Watching', watching(view))]),
    row('Agent', agent(view)),
    ...view.questions.flatMap(question => needs(question, row, room, style)),
    ...(view.note === undefined ? [] : whole('Note', view.note, style.needs).slice(0, mostTroubleLines)),
    ...(view.lastingYes === undefined ? [] : whole('Your yes', view.lastingYes)),
    ...whole('Link', link(view), linkLook(view, style)),
    ...(view.leftovers > 0
      ? [row('Earlier', `delivering messages of ${view.leftovers === 1 ? 'an earlier session' : `${view.leftovers} earlier sessions`}`)]
      : []),
    ...(view.trouble === undefined ? [] : whole('Trouble', view.trouble, style.bad).slice(0, mostTroubleLines)),
    '',
    ...wrapped(hint(view), columns - indent.length - 1).map(line => `${indent}${style.dim(line)}`),
    ''
  ]
}

type Row = (label: string, text: string, look?: (text: string) => string) => string

/** Shown in full, since the person decides about all of it, with the reasons for the risk. */
function needs({ title, risk }: SessionStatus['questions'][number], row: Row, room: number, style: Style): string[] {
  const lines = title
    .split('\n')
    .map(plain)
    .filter(line => line !== '')
    .flatMap(line => wrapped(line, room))
  const shown = lines.length > mostLines ? [...lines.slice(0, mostLines - 1), 'The rest is on your phone.'] : lines
  const why = risk && risk.level !== 'plain' ? wrapped(risk.reasons.map(name => riskWords[name] ?? name).join(', '), room) : []
  const label = risk?.level === 'risky' ? 'Risky' : 'Careful'
  const look = risk?.level === 'risky' ? style.bad : style.needs
  return [
    ...shown.map((line, index) => row(index === 0 ? 'Needs you' : '', line, style.needs)),
    ...why.map((line, index) => row(index === 0 ? label : '', line, look))
  ]
}

// The rest must stay visible on a terminal of 24 lines.
const mostLines = 10

// Text of another program may have any length.
const mostTroubleLines = 4

const riskWords: Readonly<Record<string, string>> = {
  deletes: 'deletes files',
  'rewrites-history': 'rewrites history',
  discards: 'discards changes',
  'admin-rights': 'uses admin rights',
  'runs-download': 'runs what it downloads',
  'runs-edited': 'runs what this agent changed',
  overwrites: 'may overwrite files',
  'overwrites-disk': 'writes to a disk directly',
  permissions: 'changes file permissions',
  secrets: 'touches keys or secrets',
  production: 'reaches production',
  database: 'deletes from a database',
  infrastructure: 'changes running systems',
  hidden: 'contains hidden characters',
  shortened: 'is shown only in part on the phone',
  unparsable: 'cannot be analyzed reliably',
  network: 'reaches the network',
  installs: 'installs packages',
  outside: 'leaves the folder of this session',
  'many-files': 'changes many files'
} satisfies Record<RiskName, string>

const indent = '  '
const labelWidth = 11

function phone({ session, server }: SessionView): string {
  return session === undefined ? server : `${server}/s/${session}`
}

/** A truncated address is useless, so it wraps instead. */
function chunks(text: string, columns: number): string[] {
  return text.match(new RegExp(`.{1,${Math.max(1, columns)}}`, 'gu')) ?? []
}

function watching({ watching }: SessionView): string {
  return watching === 0 ? 'nobody' : `${watching} ${watching === 1 ? 'device' : 'devices'}`
}

function agent({ isWorking, workingMs, step, queued, questions, modelWait }: SessionView): string {
  const more = queued > 0 ? `  (${queued} more ${queued === 1 ? 'message waits' : 'messages wait'})` : ''
  if (!isWorking) return 'waiting for a message from your phone'
  if (questions.length > 0) return `waiting for your decision${more}`
  const doing = modelWait ? `: ${waitOf(modelWait)}` : step === undefined ? '' : `: ${step}`
  return `working, ${duration(workingMs)}${doing}${more}`
}

function waitOf({ since, retry }: ModelWait): string {
  if (!retry) return `no output from the model for ${duration(Date.now() - since)}`
  const leftMs = Math.min(retry.inMs, retry.at - Date.now())
  const next = leftMs > 0 ? `, next in ${duration(leftMs + 999)}` : ''
  if (retry.attempt === undefined) return `${retryWords[retry.why]}; retrying automatically`
  return `${retryWords[retry.why]}; attempt ${retry.attempt}${retry.of === undefined ? '' : ` of ${retry.of}`}${next}`
}

const retryWords = {
  overloaded: 'the model is overloaded',
  limit: 'rate limited',
  'sign-in': 'it is not signed in',
  unreachable: 'the model cannot be reached',
  other: 'the model returned an error'
} as const satisfies Record<RetryReason, string>

function link({ link, waiting, server, stopping }: SessionView): string {
  const messages = `${waiting} ${waiting === 1 ? 'message' : 'messages'}`
  switch (link.type) {
    case 'live':
      return stopping === 'ending' && waiting > 0 ? `delivering ${messages}` : 'live'
    case 'connecting':
      return `connecting to ${server}`
    case 'away':
      return waiting > 0 ? `offline: keeps working, will deliver ${messages}` : 'offline: keeps working, delivers when it reconnects'
    case 'unlinked':
      return waiting > 0 ? `unlinked; ${messages} waiting for: ${typed('login')}` : `unlinked: run ${typed('login')}`
    case 'gone':
      return 'this session was deleted'
    case 'unknown':
      return 'the server no longer knows this session'
    case 'other-key':
      return `stopped: this session has another key on the server; ${messages} kept here`
  }
}

function linkLook({ link }: SessionView, style: Style): (text: string) => string {
  switch (link.type) {
    case 'live':
      return style.good
    case 'unlinked':
    case 'gone':
    case 'unknown':
    case 'other-key':
      return style.bad
    case 'away':
      return style.needs
    case 'connecting':
      return text => text
  }
}

function hint({ stopping, isWorking, questions, anyKey }: SessionView): string {
  switch (stopping) {
    case 'turn':
      return 'Stopping. Ctrl-C again ends the session.'
    case 'asked':
      return 'Ctrl-C again ends the session.'
    case 'ending':
      return 'Ending. Ctrl-C again quits now; nothing is lost.'
    case 'no':
      return [
        ...(questions.length > 0 ? ['Answer on your phone.'] : []),
        ...(anyKey === undefined ? [] : [`Any key ${anyKey}.`]),
        isWorking ? 'Ctrl-C stops the turn.' : 'Ctrl-C twice ends the session.'
      ].join(' ')
  }
}

function duration(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, '0')} s`
}

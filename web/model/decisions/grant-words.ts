import type { Grant, Grants } from '../../../lib/protocol/sealed/decisions/grants.ts'
import { visible } from '../../ui/visible-text.ts'
import { session as words } from '../../words/session.ts'
import type { Verdict } from './answers.ts'

/** The label of a permanent grant: what the agent will do, in our words if known, otherwise in its own. */
export function lastingWords({ choice, rule }: Verdict): string {
  // A rule allows what is shown, and existing wrappers do not say what they will do.
  if (rule !== undefined || choice === undefined) return words.allow.session
  return choice.grants === undefined ? visible(choice.label) : words.grants.allow[choice.grants.lasts](grantWords(choice.grants))
}

/** For a button; the full text is shown next to it if this is shorter. */
export function brief(text: string): string {
  return text.length <= mostOnButton ? text : `${text.slice(0, mostOnButton - 1)}…`
}

const mostOnButton = 48

export function grantWords({ what }: Grants): string {
  return what.map(wordsOf).join(words.grants.and)
}

function wordsOf({ type, of }: Grant): string {
  const names = visible(of.join(words.grants.and))
  switch (type) {
    case 'edits':
    case 'everything':
    case 'rights':
      return words.grants[type]
    case 'files':
    case 'commands':
    case 'folders':
      return words.grants[type](names)
    case 'hosts':
    case 'tools':
      return names === '' ? words.grants.this : names
  }
}

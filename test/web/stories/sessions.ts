import type { SessionModel } from '../../../web/model/session/session.ts'
import { answers } from './answers.ts'
import { conversations } from './conversations.ts'
import { decisions } from './decisions.ts'
import { questions } from './questions.ts'
import { states } from './states.ts'

/** Every state of the session screen worth showing, by name. */
export const stories: Record<string, () => SessionModel> = { ...conversations, ...decisions, ...answers, ...questions, ...states }

/** The addresses of stories that need one of their own. */
export const places: Readonly<Record<string, string>> = {
  'message-gone': '/s/s1/m/999',
  info: '/s/s1/info',
  'info-compromised': '/s/s1/info'
}

/** What some stories press, in order, by the beginning of the name. */
export const presses: Readonly<Record<string, readonly string[]>> = {
  changing: ['2 waiting', 'Edit'],
  'deciding-queue': ['2 waiting'],
  'mode-usage': ['Ask first'],
  denying: ['see Deny…', 'again Deny'],
  'question-beside': ['1 of 2'],
  'question-unsaid': ['Something else']
}

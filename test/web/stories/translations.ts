import { alerts } from '../../../web/words/alerts.ts'
import { words as app } from '../../../web/words/app.ts'
import { compose } from '../../../web/words/compose.ts'
import { decide } from '../../../web/words/decide.ts'
import { homeWords as home } from '../../../web/words/home.ts'
import { joining } from '../../../web/words/joining.ts'
import { lists } from '../../../web/words/lists.ts'
import { machine } from '../../../web/words/machine.ts'
import { notifications } from '../../../web/words/notifications.ts'
import { outcomes } from '../../../web/words/outcomes.ts'
import { people } from '../../../web/words/people.ts'
import { session } from '../../../web/words/session.ts'
import { settings } from '../../../web/words/settings.ts'
import { start } from '../../../web/words/start.ts'
import { work } from '../../../web/words/work.ts'
import { chinese } from '../../../web/words/zh/index.ts'
import { joining as chineseJoining } from '../../../web/words/zh/joining.ts'
import { laterChinese } from '../../../web/words/zh/later.ts'
import { notifications as chineseNotifications } from '../../../web/words/zh/notifications.ts'
import { settings as chineseSettings } from '../../../web/words/zh/settings.ts'

/** Each text of the app in English and in Chinese; the parameters of a sentence appear in both as ⟨0⟩, ⟨1⟩ and so on. */
export function translations(): [string, string][] {
  const english = {
    app,
    compose,
    decide,
    home,
    joining,
    lists,
    machine,
    notifications,
    outcomes,
    people,
    alerts,
    session,
    settings,
    start,
    work
  }
  return pairsIn(english, {
    ...chinese,
    ...laterChinese,
    joining: chineseJoining,
    notifications: chineseNotifications,
    settings: chineseSettings
  })
}

function pairsIn(english: unknown, chinese: unknown): [string, string][] {
  if (typeof english === 'string' && typeof chinese === 'string') return [[english, chinese]]
  if (isSentence(english) && isSentence(chinese)) return pairsIn(sample(english), sample(chinese))
  if (!isObject(english) || !isObject(chinese)) return []
  return Object.keys(english).flatMap(name => pairsIn(english[name], chinese[name]))
}

type Sentence = (...about: string[]) => unknown

function isSentence(value: unknown): value is Sentence {
  return typeof value === 'function'
}

/** Undefined for the few sentences that inspect their parameters. */
function sample(sentence: Sentence): unknown {
  try {
    return sentence('⟨0⟩', '⟨1⟩', '⟨2⟩', '⟨3⟩')
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

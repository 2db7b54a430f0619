import { inLanguage, type Translated } from './language.ts'

/** Words about the outcome of a request and the state of its answer, in English. */
const english = {
  life: {
    sent: 'Sent',
    on: (host: string) => `On ${host}`,
    applied: 'Applied',
    where: 'Progress of your answer',
    hasIt: (host: string, agent: string) => `${host} has received it. ${agent} handles it next.`
  },
  answeredElsewhere: 'Answered elsewhere',
  answeredOnOther: 'Answered on another device',
  tapSecond: 'Your answer came second and changed nothing.',
  withdrew: (agent: string) => `${agent} withdrew this`,
  youEnded: (agent: string) => `You ended ${agent}`,
  didNotRun: 'It did not run.',
  commandDidNotRun: 'The command did not run.',
  sessionStopped: 'Session stopped',
  resumeAndAsk: 'Resume and ask again',
  askAgain: (what: string) => `You ended before my answer reached you. Ask me again if you still need this: ${what}`,
  notApplied: 'Not applied',
  notAppliedWhy: {
    'not-connected': 'No connection. Nothing was sent.',
    away: (host: string) => `${host} is offline. Nothing was decided.`,
    'no-answer': (host: string) => `${host} did not respond. It is not known yet whether this took effect.`,
    failed: (host: string, why: string) => `${host} rejected it: ${why}`,
    astray: (host: string) =>
      `The response from ${host} belongs to something else. Either it runs an older version of Afield, or the server changed something in transit.`,
    unreadable: (host: string) => `This app cannot read the response from ${host}.`,
    stopped: (agent: string) => `${agent} stopped before it could read this. It did not run.`
  }
}

export type OutcomeWords = Translated<typeof english>

export const outcomes = inLanguage('outcomes', english)

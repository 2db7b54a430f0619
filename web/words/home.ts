import { inLanguage, type Translated } from './language.ts'
import { pluralIn } from './plural.ts'

const plural = pluralIn('en')

/** Words of the home screen and of the screen that shows one open decision after another, in English. */
const english = {
  allQuiet: 'All quiet',
  nothingNeedsYou: 'Nothing needs you',
  needYou: (n: number) => plural(n, { one: '1 agent needs you', other: `${n} agents need you` }),
  tally: (waiting: number, working: number, quiet: number) => {
    if (working > 0) return `${working} working.`
    if (waiting > 0) return 'Nothing else is running.'
    return quiet === 0 ? 'No sessions yet.' : 'Nothing needs you now.'
  },
  away: (host: string) => `${host} is offline.`,
  manyAway: (n: number) => `${n} computers are offline.`,
  wereWorking: (n: number, at: string) => plural(n, { one: `1 was working at ${at}`, other: `${n} were working at ${at}` }),
  neededAt: (n: number, at: string) => plural(n, { one: `1 needed you at ${at}`, other: `${n} needed you at ${at}` }),
  wasQuiet: (at: string) => `All was quiet at ${at}`,
  nothingNeeded: 'They keep working without you. Nothing needed you then.',
  nothingWorked: 'Agents keep working without you.',
  neededThen: (n: number) => plural(n, { one: 'One agent needed you then.', other: `${n} agents needed you then.` }),
  decisions: 'Needs you',
  working: 'Working',
  quiet: 'Recent',
  lastKnown: 'Last known',
  review: 'Review',
  answer: 'Answer',
  andRisks: (first: string, others: number) =>
    plural(others, { one: `${first}, and 1 more risk`, other: `${first}, and ${others} more risks` }),
  more: (n: number) => `${n} more waiting for you`,
  pickOne: 'Select a session on the left.',
  keys: { move: 'move', open: 'open', begin: 'new', all: 'all keys' },
  answerAll: (n: number) => plural(n, { one: 'Answer it', other: `Answer ${n}` }),
  empty: 'No sessions here yet',
  emptyText: 'Run this on the computer where your agents work, then open the address it shows or scan its code. It starts Claude Code.',
  orDemo: 'To try it without an AI account, write demo instead of claude.',
  inSources: 'Run it in the Afield source folder.',
  onlyHere: 'To link another computer, open this page at an address that it can reach too.',
  scan: 'Scan a code',
  paste: 'Paste a link instead',
  ready: (host: string) => `${host} is ready`,
  readyText: 'Start an agent there and it appears here.',
  howToStart: 'How to start one',
  loading: 'Loading your sessions',

  needsYou: {
    title: 'Needs you',
    empty: 'Nothing needs you',
    emptyText: "You're all caught up.",
    toHome: 'Home',
    place: (at: number, of: number) => `${at} of ${of}`,
    next: 'Next decision',
    before: 'Previous decision'
  }
}

export type HomeWords = Translated<typeof english>

export const homeWords = inLanguage('home', english)

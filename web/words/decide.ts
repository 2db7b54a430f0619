import { inLanguage, type Translated } from './language.ts'

/** What is said about decisions that last, questions and plans, in English. */
const english = {
  always: 'Always…',
  allowUntil: { hours: 'Allow for 2 hours', today: 'Allow until midnight', removed: 'Allow from now on' },
  sessionRule: 'Only this, and only in this session.',
  byRule: (rule: string) => `Allowed by rule ${rule}`,
  alwaysBy: { me: 'Allowed by you, from now on', other: (by: string) => `Allowed from now on, on ${by}`, unknown: 'Allowed from now on' },
  changed: 'This request changed. Look again.',
  queued: 'On this device, leaves when you are back',
  withdraw: 'Withdraw',
  unanswered: {
    name: 'Deny what nobody answers',
    about: 'The agent hears why, and goes on. Plans and questions always wait.',
    wait: 'Never',
    after: (minutes: number) => `${minutes} min`,
    deniedIn: (time: string) => `Denied automatically in ${time} unless you answer.`
  },
  offline: 'There is no link. What you decide waits here until there is one.',

  sideRuns: 'What would run',
  sideBefore: 'Similar requests before',
  sideNone: 'Nothing like this was asked before.',
  wasAllowed: 'Allowed',
  wasDenied: 'Denied',

  ruleTitle: 'Allow from now on',
  ruleNew: 'New rule',
  ruleEdit: 'Rule',
  on: {
    command: 'Command',
    change: 'Files to change',
    read: 'Files to read',
    page: 'Pages',
    tool: 'Tool'
  },
  patternHint: {
    command: 'A * at the end stands for more words, but for no options and no files elsewhere.',
    change: 'From the folder on. A * stays within a name, ** goes deeper.',
    read: 'From the folder on. A * stays within a name, ** goes deeper.',
    page: 'A host. *.example.org allows all below it.',
    tool: 'A * at the end stands for the rest of the name.'
  },
  pattern: 'Pattern',
  folder: 'In this folder and below',
  machine: 'Machine',
  ends: 'Until',
  end: { hours: '2 hours', today: 'Today', removed: 'I remove it' },
  trying: 'Trying it on what was asked before',
  would: (passed: number, looked: number) =>
    looked === 0 ? 'Nothing of this kind was asked before.' : `${passed} of your last ${looked} would pass.`,
  denied: 'you denied this',
  seeAll: 'See which',
  sureTitle: 'This asks for care',
  sureText: 'From now on nobody looks at it.',
  sure: 'Allow it from now on',
  riskyNever: 'What is risky is still asked each time.',
  save: 'Save',
  saving: 'Saving',
  notSaved: (host: string) => `${host} did not keep the rule`,

  rules: 'Approval rules',
  rulesValue: 'What agents may do without asking',
  rulesLead: 'A rule answers for you on the machine it was made for. What is risky is always asked.',
  rulesNone: 'No rules',
  rulesNoneText: 'Make one with Always… when an agent asks, or here.',
  pauseAll: 'Pause all rules',
  pauseHint: 'While they are paused, everything is asked.',
  paused: 'All rules are paused',
  used: (count: number) => (count === 0 ? 'not used yet' : count === 1 ? 'used once' : `used ${count} times`),
  until: (when: string) => `until ${when}`,
  oneSession: 'one session',
  madeBy: (by: string, when: string) => `Made on ${by}, ${when}`,
  made: (when: string) => `Made ${when}`,
  remove: 'Remove',
  removing: 'Removing',
  add: 'Add a rule',
  gone: 'This rule is not there any more',
  noHelper: (host: string) => `${host} cannot be asked now`,
  noHelperText: 'Neither its helper nor a session runs. Its rules still count.',
  noMachines: 'No machine is linked yet',
  noneThere: 'No machine can take a rule now: neither a helper nor a session runs.',
  asking: 'Asking the machines',

  asks: (agent: string, index: number, all: number) => (all === 1 ? `${agent} asks` : `${agent} asks, question ${index} of ${all}`),
  chooseAny: 'Choose any',
  chooseOne: 'Choose one',
  other: 'Something else…',
  otherLabel: 'Your answer',
  answerFirst: 'Answer this question first.',
  unsaid: 'Write your answer, or choose another.',
  aNumber: (isWhole: boolean, minimum: number | undefined, maximum: number | undefined) => {
    const what = isWhole ? 'A whole number' : 'A number'
    if (minimum !== undefined && maximum !== undefined) return `${what} from ${minimum} to ${maximum}.`
    if (minimum !== undefined) return `${what}, at least ${minimum}.`
    return maximum === undefined ? `${what}.` : `${what}, at most ${maximum}.`
  },
  noNumber: 'Correct the number to send it.',
  letDecide: 'Let it decide',
  next: 'Next',
  before: 'Back',
  review: 'Your answers',
  change: 'Change',
  notAnswered: 'Left open',
  sendAnswers: 'Send answers',
  sendAnswer: 'Send answer',
  together: 'Answers are sent together after the last question.',
  waitsForAnswer: 'It waits for your answer.',
  youAnswered: (answer: string) => `You answered: ${answer}`,
  answered: (answer: string) => `Answered: ${answer}`,
  letItDecide: 'You let it decide',
  leftOpen: 'Ended without an answer',
  questionCard: (agent: string) => `${agent} asks`,
  linkTitle: 'Open this page?',
  linkOf: (agent: string) => `${agent} wants you to open a page`,
  linkHost: 'Leads to',
  linkOpen: 'Open',
  linkRefuse: 'Refuse',
  linkHint: 'It opens in your browser, outside of Afield.',
  linkBad: 'This is no address that can be opened safely.',
  answerNotTaken: (host: string, why: string) => `${host} did not take it: ${why}`,

  planChange: 'Change it…',
  planChangeLabel: 'What shall be different?',
  planStart: 'Start the work',
  planHold: 'Hold to start',
  planTap: 'Start the work',
  planConfirm: 'Confirm: start the work in Full auto',
  planAfter: 'After that, the agent works in',
  planSend: 'Send back',
  planBack: 'Keep open',
  planEffect: (files: number) => (files === 1 ? 'Names 1 file.' : `Names ${files} files.`),
  planNetwork: { yes: 'May reach the network.', no: 'Names no network.' }
} as const

export type DecideWords = Translated<typeof english>

export const decide = inLanguage('decide', english)

import type { MachineHandlers } from '../../../lib/client/calls/machine-calls.ts'
import type { MachineMetadata } from '../../../lib/protocol/sealed/machine.ts'
import { type Evil, evilName } from './xss.ts'

/** `name`: the field for its display name. */
export function machineAbout(evil: Evil, name = 'machine.name'): MachineMetadata {
  return {
    host: 'a',
    platform: evil('machine.platform'),
    happyCliVersion: evil('machine.version'),
    homeDir: `/${evilName(evil, 'machine.home')}`,
    happyHomeDir: '/h',
    displayName: evil(name),
    methods: [
      'choices',
      'listDirectory',
      'processes',
      'complete-path',
      'worktrees',
      'agent-histories',
      'search-histories',
      'log',
      'update',
      'restart',
      'keep-awake',
      'rules',
      'rules-try',
      'make-folder'
    ]
  }
}

/** The answers of its daemon; `session` runs there. */
export function answersOfMachine(evil: Evil, session: () => string | undefined): Partial<MachineHandlers> {
  const folder = `/${evilName(evil, 'choices.folder')}`
  const said = (name: string) => ({
    agent: 'claude',
    id: `${name}.id`,
    title: evil(`${name}.title`),
    folder: `/${evilName(evil, `${name}.folder`)}`,
    at: 1
  })
  const answers = {
    choices: {
      agents: [
        {
          agent: 'claude',
          title: evil('choices.agent'),
          version: evil('choices.version'),
          isSignedIn: false,
          signIn: evil('choices.signIn')
        },
        { agent: 'codex', title: 'Codex', isSignedIn: true }
      ],
      recentFolders: [folder],
      home: '/',
      missingAgents: [{ agent: 'x', title: evil('choices.missing'), install: evil('choices.install') }],
      folders: [{ path: folder, branch: evil('choices.branch'), dirty: 3 }],
      allowedFolders: ['/', `/${evil('choices.allowed')}`]
    },
    processes: {
      processes: [true, false].map(isLeftOver => ({
        id: String(isLeftOver),
        pid: 7,
        startedAt: 1,
        memoryBytes: 1,
        memoryIs: 'share' as const,
        processes: 1,
        isLeftOver,
        title: evil(`process.${isLeftOver}.title`),
        folder: `/${evilName(evil, `process.${isLeftOver}.folder`)}`
      }))
    },
    worktrees: {
      worktrees: [
        {
          path: `/${evilName(evil, 'copy.path')}`,
          branch: evil('copy.branch'),
          repository: `/${evilName(evil, 'copy.repository')}`,
          base: 'abc',
          dirty: 1,
          ahead: 1,
          isInUse: false
        }
      ]
    },
    'agent-histories': { histories: [said('history')], cursor: null },
    'search-histories': { hits: [{ ...said('heard'), by: 'agent' as const, sentence: evil('heard.sentence') }], isComplete: true },
    log: { lines: [evil('log.line')] },
    update: { version: '1', installed: 'npm' as const, isReady: false, command: evil('update.command'), message: '' },
    rules: {
      isPaused: false,
      rules: [
        {
          id: 'r1',
          on: 'command' as const,
          pattern: evil('rule.pattern').slice(0, 1000),
          folder: `/${evilName(evil, 'rule.folder')}`,
          madeAt: 1,
          madeBy: evil('rule.madeBy'),
          used: 2
        }
      ]
    },
    listDirectory: { success: true as const, entries: [{ name: evilName(evil, 'folders.name'), type: 'directory' as const }] }
  }
  const refusal = evil('spawn.refusal')
  const unread = evil('folders.refusal')
  const [left] = answers.processes.processes
  if (left === undefined) throw new Error('no process was left over')
  const own = {
    ...left,
    id: 'own',
    isLeftOver: false,
    title: evil('process.own.title'),
    folder: `/${evilName(evil, 'process.own.folder')}`
  }
  // The second answer has no command.
  const updates = [answers.update, { ...answers.update, command: undefined, message: evil('update.message') }]
  const trial = { looked: 1, passed: 1, entries: [{ at: 1, what: evil('trial.what'), answer: 'denied' as const }] }
  return {
    choices: () => answers.choices,
    processes: () => ({ processes: [...answers.processes.processes, { ...own, session: session() }] }),
    worktrees: () => answers.worktrees,
    'agent-histories': () => answers['agent-histories'],
    'search-histories': () => answers['search-histories'],
    log: () => answers.log,
    update: () => updates.shift() ?? answers.update,
    rules: () => answers.rules,
    listDirectory: ({ path }) => (path.includes('⟦folders.name⟧') ? { success: false, error: unread } : answers.listDirectory),
    'rules-try': () => trial,
    'keep-awake': () => ({ on: false, isAwake: false, canDo: true }),
    'spawn-happy-session': ({ directory }) =>
      directory.includes('⟦') ? { type: 'requestToApproveDirectoryCreation', directory } : Promise.reject(new Error(refusal))
  }
}

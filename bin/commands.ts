import type { ArgumentsCamelCase, Argv } from 'yargs'

/** The exports of a file in bin/commands: its options, and its function. */
interface Command {
  builder(line: Argv): Argv
  handler(args: ArgumentsCamelCase): Promise<void> | void
}

/**
 * Every command, in the order of `--help`. Its file is loaded only when it runs, so that an agent's
 * wrapper never loads the server. Arguments after `--` arrive as `args['--']`. Those without `about`
 * are for Afield's own use.
 */
export const commands: readonly { usage: string; about: string | false; load(): Promise<Command> }[] = [
  { usage: 'serve', about: 'Run the server, with the app', load: () => import('./commands/serve.ts') },
  { usage: 'service [action]', about: 'Run the server as a service of this system', load: () => import('./commands/service.ts') },
  { usage: 'config [action]', about: 'Show or check the options of the server', load: () => import('./commands/config.ts') },
  { usage: 'users [action] [who]', about: 'List accounts, and approve, reject or remove them', load: () => import('./commands/users.ts') },
  { usage: 'invite [action] [what]', about: 'Invite someone to create an account', load: () => import('./commands/invite.ts') },
  { usage: 'token [action] [what]', about: 'Create and revoke tokens for your own programs', load: () => import('./commands/token.ts') },
  { usage: 'backup <target>', about: 'Back up the server into one file, while it runs', load: () => import('./commands/backup.ts') },
  { usage: 'restore <file>', about: 'Restore the server from a backup', load: () => import('./commands/restore.ts') },
  { usage: 'migrate-store <from> <to>', about: 'Move everything into PostgreSQL', load: () => import('./commands/migrate-store.ts') },
  { usage: 'import-happy <database>', about: 'Import the accounts of a Happy server', load: () => import('./commands/import-happy.ts') },
  { usage: 'upgrade <source>', about: 'Install a newer version that you downloaded', load: () => import('./commands/upgrade.ts') },
  { usage: 'rollback', about: 'Go back to the version before the last upgrade', load: () => import('./commands/rollback.ts') },
  { usage: 'login', about: 'Link this computer to your account', load: () => import('./commands/login.ts') },
  {
    usage: 'logout',
    about: 'End the sessions here and unlink this computer from your account',
    load: () => import('./commands/logout.ts')
  },
  { usage: 'claude [prompt..]', about: 'Run Claude Code, here and on your phone', load: () => import('./commands/claude.ts') },
  { usage: 'codex [prompt..]', about: 'Run Codex, here and on your phone', load: () => import('./commands/codex.ts') },
  { usage: 'opencode [prompt..]', about: 'Run opencode, here and on your phone', load: () => import('./commands/opencode.ts') },
  { usage: 'run [agent..]', about: 'Run another agent, such as Gemini, for your phone', load: () => import('./commands/run.ts') },
  { usage: 'demo [prompt..]', about: 'Run a scripted agent to try everything', load: () => import('./commands/demo.ts') },
  { usage: 'resume [words..]', about: 'Resume a session that has ended', load: () => import('./commands/resume.ts') },
  { usage: 'adopt [words..]', about: 'Continue a conversation you started without Afield', load: () => import('./commands/adopt.ts') },
  { usage: 'sessions [words..]', about: 'List the sessions of this computer', load: () => import('./commands/sessions.ts') },
  {
    usage: 'daemon [action]',
    about: 'Let your phone start and resume sessions on this computer',
    load: () => import('./commands/daemon.ts')
  },
  { usage: 'allow [path]', about: 'Choose where your phone may start sessions', load: () => import('./commands/allow.ts') },
  { usage: 'doctor', about: 'Check the server, or this computer, for problems', load: () => import('./commands/doctor.ts') },
  { usage: 'flush', about: 'Deliver messages that earlier sessions could not send', load: () => import('./commands/flush.ts') },
  { usage: 'notify [words..]', about: 'Send a notification to your phone', load: () => import('./commands/notify.ts') },
  {
    usage: 'push [action] [what] [address]',
    about: 'Show where notifications go, test them, add ntfy or a webhook',
    load: () => import('./commands/push.ts')
  },
  { usage: 'help [topic]', about: 'Show the options of a command, or a page of the manual', load: loadHelp },
  { usage: 'completion <shell>', about: 'Print the completion script for your shell', load: loadCompletion },
  { usage: 'complete', about: false, load: loadComplete },
  { usage: 'make-certificate', about: false, load: () => import('./commands/internal/make-certificate.ts') },
  { usage: 'trial-start', about: false, load: () => import('./commands/internal/trial-start.ts') },
  { usage: 'run-module <module>', about: false, load: () => import('./commands/internal/run-module.ts') },
  { usage: 'demo-agent <state>', about: false, load: () => import('./commands/internal/demo-agent.ts') }
]

// These need the list of the others.
async function loadHelp(): Promise<Command> {
  const { builder, handlerFor } = await import('./commands/help.ts')
  return { builder, handler: handlerFor(commands) }
}

async function loadComplete(): Promise<Command> {
  const { builder, handlerFor } = await import('./commands/internal/complete.ts')
  return { builder, handler: handlerFor(commands) }
}

async function loadCompletion(): Promise<Command> {
  const { builder, handlerFor } = await import('./commands/completion.ts')
  return { builder, handler: handlerFor(commands) }
}

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { happyModeOf } from '../../lib/client/happy/modes.ts'
import { trueNow } from '../core/clock.ts'
import { isStale } from '../core/connection.ts'
import { go, goFromLayer } from '../core/router.ts'
import { pathOf, type Route } from '../core/routes.ts'
import { useTicking } from '../core/ticking.ts'
import { HistoriesSheet } from '../histories/histories-sheet.tsx'
import { WithCommand } from '../machines/with-command.tsx'
import type { Live } from '../model/account/live.ts'
import type { Trouble } from '../model/account/machine-call.ts'
import { home } from '../model/home.ts'
import { hasDaemon, isOurs, modelsOf, nameOfMachine, stateOfMachine } from '../model/machines.ts'
import { newStart } from '../model/outbox/starts.ts'
import { type AskedStart, sendFirstMessage, startSession } from '../model/start-and-stop.ts'
import type { MachineView } from '../model/store.ts'
import { StartLog } from '../session/machine/start-log.tsx'
import { TroubleCard } from '../session/machine/trouble.tsx'
import { LockRefused, useStepUp } from '../session/mode/step-up.tsx'
import { Bar } from '../ui/bar.tsx'
import { useBusy } from '../ui/behavior/busy.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { Icon } from '../ui/icons/icon.tsx'
import { toast } from '../ui/toast.ts'
import { lists } from '../words/lists.ts'
import { session as sessionWords } from '../words/session.ts'
import { start as words } from '../words/start.ts'
import { AgentPicker, isReady } from './agent.tsx'
import { folderToBegin, isAllowed, recentOf, useChoices, useFolder } from './choices.ts'
import { storeFirstMessage } from './first-message.ts'
import { FolderRow, MakeSheet, NotAllowed } from './folder.tsx'
import { FolderSheet } from './folder-sheet.tsx'
import { folderStart, type LastStart, noteStart } from './last-start.ts'
import { efforts, type FirstFiles, MoreChoices, type MoreOptions, WorktreeSwitch } from './more-options.tsx'

type Mode = keyof typeof modeCodes
/** Daemons accept these codes for the modes of any agent. */
const modeCodes = { ask: 'default', edit: 'acceptEdits', plan: 'plan', auto: 'bypassPermissions' } as const
const modes = Object.keys(modeCodes) as Mode[]

/** Folder, agent and mode of the session to start, and the result. */
export function StartForm(props: {
  link: Live
  machine: MachineView
  last: LastStart
  folder: string | undefined
  text: string
  files: FirstFiles
  onStarted(): void
  children: ComponentChildren
}) {
  const { link, machine, last, text, files } = props
  const hasFiles = files.chosen.length > 0
  const host = nameOfMachine(machine)
  const [attempt, setAttempt] = useState(0)
  const answer = useChoices(link, machine, attempt)
  const isHere = stateOfMachine(machine, home.value) === 'online'
  const waitsFor = isStale.value ? 'link' : hasDaemon(machine) ? undefined : 'machine'
  const choices = answer?.type === 'choices' ? answer.choices : undefined
  const [folderChosen, setFolder] = useState(props.folder)
  const recent = recentOf(choices)
  const folder = folderChosen ?? folderToBegin(last.folder, choices)
  const known = useFolder(link, machine, choices, folder)
  const before = folderStart(last, machine.id, folder)
  const [agentChosen, setAgent] = useState<string>()
  const [modeChosen, setMode] = useState<Mode>()
  const [copyChosen, setCopy] = useState<boolean>()
  const [moreChosen, setMore] = useState<MoreOptions>()
  const [sheet, setSheet] = useState<'folder' | 'histories' | { make: string }>()
  const [trouble, setTrouble] = useState<Trouble>()
  const [start] = useState(() => crypto.randomUUID())
  const [hasKeepFailed, setKeepFailed] = useState(false)
  const { isBusy, run } = useBusy()
  const { isRefused, surely } = useStepUp()

  // A choice made here comes first, then the last one for this folder, then the last one anywhere.
  const ready = choices?.agents.filter(isReady) ?? []
  const agent = [agentChosen, before?.agent, last.agent].map(name => ready.find(each => each.agent === name)).find(Boolean) ?? ready[0]
  const offered =
    isOurs(machine) || agent === undefined ? modes : modes.filter(each => happyModeOf(agent.agent, modeCodes[each]) !== undefined)
  const kept = before?.mode ?? last.mode
  const mode = offered.find(each => each === modeChosen) ?? offered.find(each => each === kept && each !== 'auto') ?? 'ask'
  // A session that starts later, unwatched, must not start in Full auto.
  const isAutoLater = waitsFor !== undefined && mode === 'auto'
  const dirty = known?.dirty ?? 0
  const canCopy = known?.dirty !== undefined
  const hasCopy = canCopy && (copyChosen ?? before?.worktree ?? dirty > 0)
  const more: MoreOptions = moreChosen ?? {
    model: before?.model ?? '',
    effort: efforts.find(each => each === before?.effort) ?? '',
    base: ''
  }
  const opened = async (id: string, asked?: AskedStart): Promise<Route> => {
    await sendFirstMessage(link, id, hasFiles ? '' : text, asked)
    if (hasFiles && !(await storeFirstMessage(link, id, text, files.chosen))) toast(words.firstFilesLost)
    props.onStarted()
    return { name: 'session', id, view: [] }
  }

  const begin = (mayMakeFolder: boolean) =>
    run(async () => {
      if (folder === undefined || agent === undefined) return
      setTrouble(undefined)
      const { model, effort, base } = more
      const asked: AskedStart = {
        agent: agent.agent,
        folder,
        mode: (isOurs(machine) ? undefined : happyModeOf(agent.agent, modeCodes[mode])) ?? modeCodes[mode],
        keepsMode: !isOurs(machine) && mode !== 'ask',
        mayMakeFolder,
        worktree: hasCopy ? { ...(base.trim() && { base: base.trim() }), about: text.slice(0, 200) } : undefined,
        model: model.trim(),
        effort
      }
      const note = () =>
        noteStart(machine.id, folder, { agent: agent.agent, mode, worktree: copyChosen ?? before?.worktree, model: model.trim(), effort })
      if (waitsFor !== undefined) {
        const isKept = await link.queue.put(newStart({ machine: machine.id, agent: agent.title, asked, text })).then(
          () => true,
          () => false
        )
        setKeepFailed(!isKept)
        if (!isKept) return
        note()
        props.onStarted()
        return go({ name: 'home' }, 'replace')
      }
      const outcome = await startSession(link, machine.id, { ...asked, start })
      if (outcome.type === 'wants-folder') return setSheet({ make: outcome.folder })
      if (outcome.type === 'failed') return setTrouble(outcome)
      note()
      go(await opened(outcome.id, asked), 'replace')
    })

  return (
    <form
      class="screen"
      onSubmit={event => {
        event.preventDefault()
        if (folder === undefined) setSheet('folder')
        else if (mode === 'auto') void surely(() => void begin(false))
        else void begin(false)
      }}
    >
      <Bar title={words.title} back={pathOf({ name: 'home' })} />
      <div class="scroll">
        <div class="col form">
          {props.children}
          <FolderRow folder={known} home={choices?.home} onOpen={() => setSheet('folder')} />
          {choices && folder !== undefined && !isAllowed(folder, choices) && <NotAllowed folder={folder} />}
          {canCopy && <WorktreeSwitch dirty={dirty} isOn={hasCopy} onFlip={() => setCopy(!hasCopy)} />}
          {answer === undefined && (
            <p class="lead" role="status">
              {words.asking(host)}
            </p>
          )}
          {answer?.type === 'failed' && (
            <>
              <TroubleCard title={words.notAsked(host)} trouble={answer} host={host}>
                {answer.why === 'away' && (
                  <span>
                    <WithCommand sentence={words.awayText} />
                  </span>
                )}
              </TroubleCard>
              <Button look="quiet" onClick={() => setAttempt(attempt + 1)}>
                {words.tryAgain}
              </Button>
            </>
          )}
          {choices && <AgentPicker choices={choices} host={host} chosen={agent?.agent} onChoose={setAgent} />}
          <ModePicker offered={offered} chosen={mode} onChoose={setMode} />
          <MoreChoices
            more={more}
            models={agent ? modelsOf(machine, agent.agent, home.value) : []}
            hasCopy={hasCopy}
            onChange={setMore}
            files={files}
          />
          {machine.metadata?.methods?.includes('agent-histories') && <GoOnRow onOpen={() => setSheet('histories')} />}
        </div>
      </div>
      <footer class="foot start-foot">
        {trouble && (
          <TroubleCard title={words.notStarted(agent?.title ?? '')} trouble={trouble} host={host}>
            <Button look="quiet" type="submit">
              {words.tryAgain}
            </Button>
            <ButtonLink look="quiet" href={`/machines/${encodeURIComponent(machine.id)}`}>
              {words.openMachine}
            </ButtonLink>
          </TroubleCard>
        )}
        {isBusy && <Waiting link={link} machine={machine.id} start={start} host={host} />}
        {isRefused && <LockRefused />}
        {waitsFor !== undefined && hasFiles && <p class="hint">{words.firstFilesNow}</p>}
        {waitsFor !== undefined && (
          <p class="hint">
            {hasKeepFailed
              ? words.notKept
              : answer?.type === 'unknown'
                ? words.notKnown(host)
                : isAutoLater
                  ? words.offline
                  : words.startWaits}
          </p>
        )}
        <Button
          look={mode === 'auto' ? 'danger' : 'primary'}
          type="submit"
          isLarge
          isWide
          isOff={agent === undefined || isAutoLater || (waitsFor !== undefined && hasFiles)}
          busy={isBusy && words.starting(agent?.title ?? '', host)}
        >
          {waitsFor === 'link'
            ? words.startWhenYou
            : waitsFor === 'machine'
              ? isHere
                ? words.startWhenDaemon
                : words.startWhenBack(host)
              : mode === 'auto'
                ? words.startAuto(host)
                : words.start(host)}
        </Button>
      </footer>
      {sheet === 'folder' && (
        <FolderSheet
          link={link}
          machine={machine.id}
          recent={recent}
          home={choices?.home}
          from={folder}
          canMake={machine.metadata?.methods?.includes('make-folder') === true}
          onChoose={chosen => {
            setFolder(chosen)
            setCopy(undefined)
            setMore(undefined)
          }}
          onClose={() => setSheet(undefined)}
        />
      )}
      {sheet === 'histories' && (
        <HistoriesSheet
          link={link}
          machine={machine.id}
          host={host}
          onSession={async id => goFromLayer(await opened(id))}
          onClose={() => setSheet(undefined)}
        />
      )}
      {typeof sheet === 'object' && (
        <MakeSheet folder={sheet.make} host={host} onMake={() => void begin(true)} onClose={() => setSheet(undefined)} />
      )}
    </form>
  )
}

function GoOnRow({ onOpen }: { onOpen(): void }) {
  return (
    <div class="card tight">
      <button class="irow" type="button" aria-haspopup="dialog" onClick={onOpen}>
        <Icon name="message-square-text" />
        <span>
          <b>{words.goOn}</b>
          <small>{words.goOnText}</small>
        </span>
        <Icon name="chevron-right" class="chev" />
      </button>
    </div>
  )
}

function ModePicker({ offered, chosen, onChoose }: { offered: readonly Mode[]; chosen: Mode; onChoose(mode: Mode): void }) {
  return (
    <fieldset class="picks" aria-describedby="mode-about">
      <legend>{words.mode}</legend>
      {offered.map(mode => (
        <label key={mode} class={`pick ${mode === 'auto' ? 'warn' : ''}`}>
          <input type="radio" name="mode" checked={mode === chosen} onChange={() => onChoose(mode)} />
          <span>{sessionWords.modes[mode][0]}</span>
        </label>
      ))}
      <p id="mode-about" class={`hint ${chosen === 'auto' ? 'danger-t' : ''}`} aria-live="polite">
        {chosen === 'auto' ? `${lists.sentence(sessionWords.fullAutoTitle)} ${sessionWords.fullAutoHint}` : sessionWords.modes[chosen][1]}
      </p>
    </fieldset>
  )
}

const slowAfterMs = 5_000

function Waiting(props: Parameters<typeof StartLog>[0]) {
  const [since] = useState(trueNow)
  const at = useTicking(true)
  const isSlow = at - since > slowAfterMs
  return (
    <>
      <p class="hint" role="status">
        {isSlow && words.startingHint}
      </p>
      {isSlow && <StartLog {...props} />}
    </>
  )
}

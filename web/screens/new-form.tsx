import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Icon } from '../icons/icon.tsx'
import { Problem } from '../parts/banner.tsx'
import { Bar } from '../parts/bar.tsx'
import { useBusy } from '../parts/busy.ts'
import { Button, ButtonLink } from '../parts/button.tsx'
import { Sheet } from '../parts/sheet.tsx'
import { useTicking } from '../parts/ticking.ts'
import { TroubleCard } from '../parts/trouble.tsx'
import { go } from '../router.ts'
import { isStale } from '../state/connection.ts'
import { keepLastStart, type LastStart } from '../state/last-start.ts'
import type { Live } from '../state/live.ts'
import { nameOfMachine } from '../state/machines.ts'
import { folderOf } from '../state/sessions.ts'
import { type Choices, type KnownChoices, readChoices, sayFirst, startSession, type Trouble } from '../state/starting.ts'
import type { MachineView } from '../state/store.ts'
import { session as sessionWords } from '../words/session.ts'
import { start as words } from '../words/start.ts'
import { FolderSheet, shortPath } from './folder-sheet.tsx'

type Mode = keyof typeof modeCodes
/** The names that helpers take for the modes of any agent. */
const modeCodes = { ask: 'default', edit: 'acceptEdits', plan: 'plan', auto: 'bypassPermissions' } as const
const modes = Object.keys(modeCodes) as Mode[]

/** Folder, agent and mode of a session that is about to begin, and how that went. */
export function StartForm(props: {
  link: Live
  machine: MachineView
  last: LastStart
  folder: string | undefined
  text: string
  onStarted(): void
  children: ComponentChildren
}) {
  const { link, machine, last, text } = props
  const host = nameOfMachine(machine)
  const [attempt, setAttempt] = useState(0)
  const known = useChoices(link, machine.id, attempt)
  const choices = known?.type === 'choices' ? known.choices : undefined
  const [folderChosen, setFolder] = useState(props.folder ?? last.folder)
  const [agentChosen, setAgent] = useState(last.agent)
  const [mode, setMode] = useState<Mode>(modes.find(each => each === last.mode && each !== 'auto') ?? 'ask')
  const [sheet, setSheet] = useState<'folder' | { make: string }>()
  const [trouble, setTrouble] = useState<Trouble>()
  const { isBusy, run } = useBusy()

  const folder = folderChosen ?? choices?.recentFolders[0]
  const agent = choices?.agents.find(each => each.agent === agentChosen) ?? choices?.agents[0]

  const begin = (mayMakeFolder: boolean) =>
    run(async () => {
      if (folder === undefined || agent === undefined) return
      setTrouble(undefined)
      const asked = { agent: agent.agent, folder, mode: modeCodes[mode], mayMakeFolder }
      const outcome = await startSession(link, machine.id, asked)
      if (outcome.type === 'wants-folder') return setSheet({ make: outcome.folder })
      if (outcome.type === 'failed') return setTrouble(outcome)
      keepLastStart({ machine: machine.id, folder, agent: agent.agent, mode })
      await sayFirst(link, outcome.id, text)
      props.onStarted()
      go({ name: 'session', id: outcome.id, view: [] }, 'replace')
    })

  return (
    <form
      class="screen"
      onSubmit={event => {
        event.preventDefault()
        if (folder === undefined) setSheet('folder')
        else void begin(false)
      }}
    >
      <Bar title={words.title} back={{ name: 'home' }} />
      <div class="scroll">
        <div class="col form">
          {props.children}
          <FolderRow folder={folder} home={choices?.home} onOpen={() => setSheet('folder')} />
          {known === undefined && (
            <p class="lead" role="status">
              {words.asking(host)}
            </p>
          )}
          {known?.type === 'failed' && (
            <>
              <TroubleCard title={words.notAsked(host)} trouble={known} host={host} />
              <Button look="quiet" onClick={() => setAttempt(attempt + 1)}>
                {words.tryAgain}
              </Button>
            </>
          )}
          {choices && <AgentPicker choices={choices} host={host} chosen={agent?.agent} onChoose={setAgent} />}
          <ModePicker chosen={mode} onChoose={setMode} />
        </div>
      </div>
      <footer class="foot start-foot">
        {trouble && (
          <TroubleCard title={words.notStarted(agent?.title ?? '')} trouble={trouble} host={host}>
            <ButtonLink look="quiet" href={`/machines/${encodeURIComponent(machine.id)}`}>
              {words.openMachine}
            </ButtonLink>
          </TroubleCard>
        )}
        {isBusy && <Waiting />}
        {isStale.value && <p class="hint">{words.offline}</p>}
        <Button
          look={mode === 'auto' ? 'danger' : 'primary'}
          type="submit"
          isLarge
          isWide
          isOff={agent === undefined || isStale.value}
          busy={isBusy && words.starting(agent?.title ?? '', host)}
        >
          {mode === 'auto' ? words.startAuto(host) : words.start(host)}
        </Button>
      </footer>
      {sheet === 'folder' && (
        <FolderSheet
          link={link}
          machine={machine.id}
          recent={choices?.recentFolders ?? []}
          home={choices?.home}
          from={folder}
          onChoose={setFolder}
          onClose={() => setSheet(undefined)}
        />
      )}
      {typeof sheet === 'object' && (
        <MakeSheet folder={sheet.make} host={host} onMake={() => void begin(true)} onClose={() => setSheet(undefined)} />
      )}
    </form>
  )
}

function FolderRow({ folder, home, onOpen }: { folder: string | undefined; home: string | undefined; onOpen(): void }) {
  return (
    <section class="grp">
      <h2>{words.folder}</h2>
      <div class="card tight">
        <button class="irow" type="button" aria-haspopup="dialog" onClick={onOpen}>
          <Icon name="folder" />
          <span>
            <b dir="auto">{folder === undefined ? words.chooseFolder : folderOf(folder)}</b>
            {folder !== undefined && (
              <small>
                <bdi>{shortPath(folder, home)}</bdi>
              </small>
            )}
          </span>
          <Icon name="chevron-right" class="chev" />
        </button>
      </div>
    </section>
  )
}

function AgentPicker(props: { choices: Choices; host: string; chosen: string | undefined; onChoose(agent: string): void }) {
  const { agents } = props.choices
  if (agents.length === 0) return <Problem title={words.noAgent(props.host)} text={words.noAgentText} />
  return (
    <fieldset class="picks">
      <legend>{words.agent}</legend>
      {agents.map(({ agent, title }) => (
        <label key={agent} class="pick">
          <input type="radio" name="agent" checked={agent === props.chosen} onChange={() => props.onChoose(agent)} />
          <span dir="auto">{title}</span>
        </label>
      ))}
    </fieldset>
  )
}

function ModePicker({ chosen, onChoose }: { chosen: Mode; onChoose(mode: Mode): void }) {
  return (
    <fieldset class="picks" aria-describedby="mode-about">
      <legend>{words.mode}</legend>
      {modes.map(mode => (
        <label key={mode} class={`pick ${mode === 'auto' ? 'warn' : ''}`}>
          <input type="radio" name="mode" checked={mode === chosen} onChange={() => onChoose(mode)} />
          <span>{sessionWords.modes[mode][0]}</span>
        </label>
      ))}
      <p id="mode-about" class={`hint ${chosen === 'auto' ? 'danger-t' : ''}`} aria-live="polite">
        {chosen === 'auto' ? `${sessionWords.fullAutoTitle}. ${sessionWords.fullAutoHint}` : sessionWords.modes[chosen][1]}
      </p>
    </fieldset>
  )
}

const slowAfterMs = 5_000

function Waiting() {
  const [since] = useState(Date.now)
  const at = useTicking(true)
  return (
    <p class="hint" role="status">
      {at - since > slowAfterMs && words.startingHint}
    </p>
  )
}

function MakeSheet(props: { folder: string; host: string; onMake(): void; onClose(): void }) {
  return (
    <Sheet title={words.makeTitle} onClose={props.onClose}>
      <code class="path-t">{props.folder}</code>
      <p class="lead">{words.makeText(props.host)}</p>
      <div class="acts">
        <Button look="quiet" isLarge onClick={() => history.back()}>
          {words.cancel}
        </Button>
        <Button
          look="primary"
          isLarge
          onClick={() => {
            history.back()
            props.onMake()
          }}
        >
          {words.make}
        </Button>
      </div>
    </Sheet>
  )
}

function useChoices(link: Live, machine: string, attempt: number): KnownChoices | undefined {
  const [choices, setChoices] = useState<KnownChoices>()
  // Before the link is whole the key of the machine may not be here yet.
  const canAsk = !isStale.value
  useEffect(() => {
    if (!canAsk) return
    let isGone = false
    setChoices(undefined)
    void readChoices(link, machine).then(read => !isGone && setChoices(read))
    return () => {
      isGone = true
    }
  }, [link, machine, attempt, canAsk])
  return choices
}

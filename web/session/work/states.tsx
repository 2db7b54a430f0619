import type { SessionFacts } from '../../model/session/facts.ts'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icons/icon.tsx'
import { clockTime } from '../../words/time.ts'
import { work as words } from '../../words/work.ts'
import type { Work, WorkTrouble } from './work.ts'

/** A notice that the content is not current. */
export function Freshness({ work, facts }: { work: Work; facts: SessionFacts }) {
  const known = work.status.value
  const trouble = work.trouble.value
  if (known === undefined) return null
  if (work.isHere.value && trouble === undefined) return null
  return (
    <div class="asof" role="status">
      <Icon name={work.isHere.value ? 'circle-alert' : 'moon'} />
      <div>
        <b>{words.asOf(clockTime(known.at, Date.now()))}</b>
        <span>
          {work.isHere.value
            ? words.asOfTrouble(facts.host)
            : facts.presence === 'ended'
              ? words.asOfEnded(facts.agentShort)
              : words.asOfAway(facts.host)}
        </span>
      </div>
    </div>
  )
}

/** Shown if there are no changes. */
export function NoStatus({ work, facts }: { work: Work; facts: SessionFacts }) {
  const status = work.status.value?.value
  const trouble = work.trouble.value
  if (status === undefined) {
    if (!work.isHere.value) return <NothingKept facts={facts} />
    if (trouble !== undefined) {
      return (
        <div class="pad">
          <TroubleNote title={words.notRead} trouble={trouble} host={facts.host} onRetry={() => void work.refresh()} />
        </div>
      )
    }
    return (
      <p class="lead pad" role="status">
        {words.loading(facts.host)}
      </p>
    )
  }
  if (!status.isRepository)
    return <Nothing title={status.why === 'no-git' ? words.noGit(facts.host) : words.noRepository} text={words.noRepositoryHint} />
  return <Nothing title={words.clean} text={words.cleanHint} branch={status.branch ?? words.detached} />
}

export function Nothing({ title, text, branch }: { title: string; text: string; branch?: string }) {
  return (
    <div class="nothing">
      <Icon name="folder-git-2" />
      <h2>{title}</h2>
      <p>{text}</p>
      {branch !== undefined && (
        <p class="branch">
          <Icon name="git-branch" />
          <bdi>{branch}</bdi>
        </p>
      )}
    </div>
  )
}

/** This device has nothing stored, and the machine is offline. */
export function NothingKept({ facts }: { facts: SessionFacts }) {
  if (facts.presence === 'ended') return <Nothing title={words.nothingKeptEnded(facts.agentShort)} text={words.nothingKeptEndedHint} />
  return <Nothing title={words.nothingKept(facts.host)} text={words.nothingKeptHint} />
}

/** For sessions whose wrapper supports neither search nor commits. */
export function OldWrapper({ facts }: { facts: SessionFacts }) {
  return <Nothing title={words.oldWrapper} text={words.oldWrapperHint(facts.host)} />
}

/** Why the machine failed, shown where the action was requested. */
export function TroubleNote(props: { title: string; trouble: WorkTrouble; host: string; onRetry?: () => void }) {
  return (
    <div class="problem" role="alert">
      <Icon name="circle-alert" />
      <div>
        <b>{props.title}</b>
        <span dir="auto">{troubleWords(props.trouble, props.host)}</span>
        {props.onRetry && (
          <Button look="text" onClick={props.onRetry}>
            {words.tryAgain}
          </Button>
        )}
      </div>
    </div>
  )
}

function troubleWords({ why, says }: WorkTrouble, host: string): string {
  switch (why) {
    case 'not-connected':
      return words.trouble[why]
    case 'failed':
      // In the words of both kinds of daemon, which are English only.
      return /no such file/i.test(says) ? words.goneFile : words.trouble.failed(host, says)
    default:
      return words.trouble[why](host)
  }
}

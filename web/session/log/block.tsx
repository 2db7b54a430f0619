import { useContext } from 'preact/hooks'
import { type Attached, isPicture } from '../../model/session/attachment.ts'
import type { Block } from '../../model/transcript/blocks.ts'
import { ownOf } from '../../model/transcript/fold/turn-queue.ts'
import { Icon } from '../../ui/icons/icon.tsx'
import { session as words } from '../../words/session.ts'
import { clockTime, dayName } from '../../words/time.ts'
import { Markdown } from '../text/markdown.tsx'
import { AttachedFiles, FileLine } from '../transcript/attachments.tsx'
import { Bubble, Bubbles } from '../transcript/bubble.tsx'
import type { StepContext } from '../transcript/step.tsx'
import type { Delivery, Receiver } from '../transcript/ticks.tsx'
import { Trail } from '../transcript/trail.tsx'

/** One block of the transcript. */
export function BlockView(props: {
  block: Block
  context: StepContext
  to: Receiver
  delivery: Delivery
  isNewest: boolean
  /** It arrives while the app is visible, and is announced to screen readers; steps are summarized elsewhere. */
  isNews: boolean
}) {
  const { block } = props
  return (
    <div class="block" data-key={block.key} aria-live={props.isNews ? undefined : 'off'}>
      {block.type === 'day' ? (
        <h2 class="day">{dayOf(block.at)}</h2>
      ) : block.type === 'trail' ? (
        <Trail rows={block.rows} context={props.context} />
      ) : (
        <ItemView {...props} item={block.item} />
      )}
    </div>
  )
}

/** Files that the agent sends. */
function Handed({ file }: { file: Attached }) {
  const files = useContext(Bubbles)?.files
  if (files && isPicture(file)) return <AttachedFiles files={[file]} shower={files} />
  return (
    <p class="note">
      <FileLine file={file} />
    </p>
  )
}

function ItemView(props: { item: Extract<Block, { type: 'item' }>['item']; to: Receiver; delivery: Delivery; isNewest: boolean }) {
  const { item, to, delivery, isNewest } = props
  switch (item.type) {
    case 'mine':
      return (
        <Bubble written={{ ...item, ...ownOf(item), localId: item.localId ?? undefined }} delivery={delivery} to={to} isNewest={isNewest} />
      )
    case 'prose':
      return (
        <>
          <div class="say">
            <Markdown text={item.text} />
          </div>
          {item.isCut && (
            <p class="note cut">
              <Icon name="info" />
              {words.cut(to.agent)}
            </p>
          )}
        </>
      )
    case 'file':
      return <Handed file={item.file} />
    case 'turn-ended':
      return (
        <p class={`note turn ${item.status}`}>
          <Icon name={item.status === 'failed' ? 'circle-alert' : 'square'} />
          {item.status === 'failed' ? words.turn.failed(to.agent) : words.turn.cancelled}
        </p>
      )
    case 'note':
      return (
        <p class="note" dir="auto">
          <Icon name="info" />
          <span>{item.text}</span>
        </p>
      )
    case 'limit':
      return (
        <p class="note">
          <Icon name="clock-3" />
          {item.endsAt === undefined ? words.limit : words.limitUntil(clockTime(item.endsAt, Date.now()))}
        </p>
      )
    case 'control':
      return (
        <p class="note">
          <Icon name={item.to === 'terminal' ? 'square-terminal' : 'smartphone'} />
          {words.control[item.to]}
        </p>
      )
    case 'fault':
      return (
        <p class="note">
          <Icon name="triangle-alert" />
          {words.fault[item.fault](item.count)}
        </p>
      )
    case 'skipped':
      return (
        <p class="note">
          <Icon name={item.why === 'unreadable' ? 'lock' : 'info'} />
          {words.skipped[item.why](item.count)}
        </p>
      )
  }
}

function dayOf(at: number): string {
  const day = new Date(at).toDateString()
  if (day === new Date().toDateString()) return words.today
  if (day === new Date(Date.now() - 24 * 3600_000).toDateString()) return words.yesterday
  return dayName(at)
}

import type { VNode } from 'preact'
import { useMemo, useRef } from 'preact/hooks'
import { isStale } from '../../core/connection.ts'
import { isOn } from '../../core/preferences.ts'
import type { Answered, OpenRequest } from '../../model/decisions/decisions.ts'
import type { SessionFacts } from '../../model/session/facts.ts'
import type { Queued } from '../../model/session/message-queue.ts'
import type { SessionModel } from '../../model/session/session.ts'
import { type Block, blocksOf, sameBlock } from '../../model/transcript/blocks.ts'
import { ownOf } from '../../model/transcript/fold/turn-queue.ts'
import type { Said } from '../../model/transcript/fork-point.ts'
import type { Item } from '../../model/transcript/items.ts'
import { useAfter } from '../../ui/behavior/after.ts'
import { Icon } from '../../ui/icons/icon.tsx'
import { toast } from '../../ui/toast.ts'
import { session as words } from '../../words/session.ts'
import type { Offered } from '../composer/composer.tsx'
import { Announcements } from '../transcript/announcements.tsx'
import { Bubble, Bubbles } from '../transcript/bubble.tsx'
import type { BubbleActions } from '../transcript/bubble-details.tsx'
import { Growing } from '../transcript/partial.tsx'
import type { StepContext } from '../transcript/step.tsx'
import { callOfRequest, joinAnswered, withReasonsOnce } from '../transcript/step-permissions.ts'
import type { Delivery, Receiver } from '../transcript/ticks.tsx'
import { BlockView } from './block.tsx'
import { SessionEmpty } from './empty.tsx'
import { useScrollPosition } from './scroll-position.ts'

/** The transcript. It follows the end while the reader is there, and otherwise stays in place. */
export function SessionLog(props: {
  model: SessionModel
  facts: SessionFacts
  /** Items shown there, and not here as well. */
  queue: readonly Queued[]
  /** Increases with each text sent here, which scrolls to the end. */
  sentCount: number
  onSeen(seq: number): void
  /** Continues with a message in the composer. */
  onEdit(message: Offered): void
  /** Asks whether to fork after the turn of a message. */
  onFork(said: Said): void
}) {
  const { model, facts } = props
  const transcript = model.transcript.value
  const requests = model.requests.value
  const said = useUnqueued(transcript.items, props.queue)
  const { items, answered, open } = useJoined(said, model.answered.value, requests)
  const waiting = model.texts.waiting.value
    .filter(({ replaces, state }) => replaces === undefined || state === 'failed')
    .filter(({ localId, state }) => state === 'failed' || !props.queue.some(queued => queued.localId === localId))

  const context = useMemo<StepContext>(
    () => ({
      folder: facts.path,
      waiting: open,
      answered: new Map(answered.flatMap(each => (each.call === undefined ? [] : [[each.call, each] as const]))),
      me: model.me
    }),
    [facts.path, open, answered, model.me]
  )
  const loose = useMemo(() => {
    const calls = new Set(items.flatMap(item => (item.type === 'step' ? item.call : [])))
    return answered.filter(each => each.outcome !== 'ended' && (each.call === undefined || !calls.has(each.call)))
  }, [answered, items])
  const blocks = useMemo(() => blocksOf(items, loose, context.answered), [items, loose, context.answered])

  const lastSeq = transcript.messages.at(-1)?.seq ?? 0
  const reading = useScrollPosition({
    blocks,
    lastSeq,
    sentCount: props.sentCount,
    growth: [transcript.partials, waiting, requests.length],
    hasOlder: model.older.value === 'more',
    loadOlder: downTo => void model.loadOlder(downTo),
    onSeen: props.onSeen
  })
  const to = useReceiver(facts)
  const newsAfter = useNews(model.feed.value === 'live', lastSeq)
  const actions = useActions(model, props)
  const shown = useBlockNodes(
    blocks.slice(reading.from, reading.to),
    context,
    facts,
    to,
    waiting.length === 0 ? newestMine(said) : undefined,
    newsAfter
  )
  const isEmpty = blocks.length === 0 && waiting.length === 0 && transcript.partials.length === 0
  const newCount = reading.isAtEnd ? 0 : transcript.items.filter(item => item.seq > reading.seenSeq).length

  return (
    <div class="log-w">
      <div
        class="scroll"
        role="log"
        // Most of it is not announced: see the blocks.
        aria-live={isOn('announces') ? 'polite' : 'off'}
        aria-label={words.conversation}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard
        tabIndex={0}
        ref={reading.scroller}
        onScroll={reading.onScroll}
      >
        <div class="col" ref={reading.column}>
          <Bubbles.Provider value={actions}>
            {isEmpty ? (
              <Empty model={model} facts={facts} />
            ) : (
              <>
                <Older model={model} isAtStart={reading.from === 0} />
                {shown}
                {reading.to < blocks.length && <div data-below style={{ blockSize: `${reading.below}px` }} />}
                {transcript.partials.map(partial => (
                  <Growing
                    key={partial.block}
                    partial={partial}
                    cutOff={facts.presence === 'here' ? undefined : words.cut(facts.agentShort)}
                  />
                ))}
                {waiting.map((text, index) => (
                  <Bubble
                    key={`mine.${text.localId}`}
                    written={{
                      localId: text.localId,
                      text: text.text,
                      at: text.at,
                      files: text.files ?? [],
                      from: 'app',
                      isSteer: text.isSteer
                    }}
                    delivery={text.state === 'failed' ? 'failed' : isStale.value ? 'device' : 'sending'}
                    to={to}
                    isNewest={index === waiting.length - 1}
                    onRetry={() => void model.texts.retry(text.localId)}
                    onEdit={() => {
                      props.onEdit({ text: text.text, files: text.files })
                      void model.texts.discard(text.localId)
                    }}
                    onDiscard={() => void model.texts.discard(text.localId)}
                  />
                ))}
              </>
            )}
          </Bubbles.Provider>
        </div>
      </div>
      <Announcements model={model} items={items} waiting={open} folder={facts.path} />
      {!reading.isAtEnd && (
        <button class="to-end" type="button" onClick={reading.toEnd}>
          <Icon name="chevron-down" />
          {newCount > 0 ? words.newBelow(newCount) : <span class="vh">{words.toLatest}</span>}
        </button>
      )}
    </div>
  )
}

// A block that looks unchanged keeps its node, and Preact skips it: the cost of an update is that of the change.
/** Steps with the decisions about them. Each part keeps its identity while its content is the same, so that the screen does not change. */
function useJoined(known: readonly Item[], decisions: readonly Answered[], requests: readonly OpenRequest[]) {
  const { items, answered } = useMemo(() => {
    const joined = joinAnswered(known, decisions)
    return { ...joined, answered: withReasonsOnce(joined.answered, joined.items) }
  }, [known, decisions])
  const answeredCalls = answered.map(({ call, reason }) => `${call ?? ''}${reason ? ':' : ''}`).join(' ')
  const openCalls = requests.flatMap(request => callOfRequest(request, items) ?? []).join(' ')
  return {
    items,
    answered: useMemo(() => answered, [decisions, answeredCalls]),
    open: useMemo(() => new Set(openCalls.split(' ')), [openCalls])
  }
}

function useBlockNodes(
  blocks: readonly Block[],
  context: StepContext,
  facts: SessionFacts,
  to: Receiver,
  newest: string | undefined,
  newsAfter: number
): VNode[] {
  const drawn = useRef(new Map<string, Parameters<typeof BlockView>[0] & { node: VNode }>())
  const next: typeof drawn.current = new Map()
  const nodes = blocks.map(block => {
    const before = drawn.current.get(block.key)
    const isNewest = block.key === newest
    const delivery = deliveryOf(block, facts)
    const isNews = block.type === 'item' && block.item.type !== 'mine' && block.item.seq > newsAfter
    const isSame =
      before !== undefined &&
      before.context === context &&
      before.isNewest === isNewest &&
      before.isNews === isNews &&
      before.to === to &&
      before.delivery === delivery &&
      sameBlock(before.block, block)
    const entry = isSame
      ? before
      : {
          block,
          context,
          to,
          delivery,
          isNewest,
          isNews,
          node: (
            <BlockView key={block.key} block={block} context={context} to={to} delivery={delivery} isNewest={isNewest} isNews={isNews} />
          )
        }
    next.set(block.key, entry)
    return entry.node
  })
  drawn.current = next
  return nodes
}

/** The messages without those that the agent has not read yet. */
function useUnqueued(items: readonly Item[], queue: readonly Queued[]): readonly Item[] {
  return useMemo(() => {
    const queued = new Set(queue.map(({ localId }) => localId))
    const isQueued = (item: Item) => item.type === 'mine' && !item.isWithdrawn && item.localId !== null && queued.has(item.localId)
    return queued.size === 0 ? items : items.filter(item => !isQueued(item))
  }, [items, queue])
}

/** Up to here nothing is new: it was there before, or arrived while disconnected. */
function useNews(isLive: boolean, lastSeq: number): number {
  const after = useRef(Number.POSITIVE_INFINITY)
  if (!isLive) after.current = Number.POSITIVE_INFINITY
  else if (after.current === Number.POSITIVE_INFINITY) after.current = lastSeq
  return after.current
}

function useActions(model: SessionModel, asked: { onEdit(message: Offered): void; onFork(said: Said): void }): BubbleActions {
  const latest = useRef(asked)
  latest.current = asked
  return useMemo(
    () => ({
      files: model.files,
      stagesOf: model.stagesOf,
      canTakeBack({ seq, from, localId = '' }, delivery) {
        if (from !== 'app' || delivery === 'failed' || model.texts.takenBack.value.has(localId)) return false
        return seq === undefined || (delivery !== 'read' && model.facts.value?.hasReceipts === true)
      },
      write: ({ text, files }) => latest.current.onEdit({ text, files }),
      edit: ({ text, files, localId = '' }) => latest.current.onEdit({ text, files, of: localId }),
      canFork: ({ from, text }, delivery) =>
        from !== 'decision' && text !== '' && delivery === 'read' && model.facts.value?.canForkAt === true,
      fork: written => latest.current.onFork(written),
      withdraw: localId => void model.texts.withdraw(localId).catch(() => toast(words.notKept))
    }),
    [model]
  )
}

function useReceiver({ host, agentShort, hasReceipts }: SessionFacts): Receiver {
  return useMemo(() => ({ host, agent: agentShort, tells: hasReceipts }), [host, agentShort, hasReceipts])
}

function deliveryOf(block: Block, { deliveredSeq, readSeq }: SessionFacts): Delivery {
  if (block.type !== 'item' || block.item.type !== 'mine') return 'stored'
  const { seq } = ownOf(block.item)
  if (block.item.isRead || seq <= readSeq) return 'read'
  return seq > deliveredSeq ? 'stored' : 'machine'
}

function newestMine(items: readonly Item[]): string | undefined {
  return items.findLast(item => item.type === 'mine' && !item.isWithdrawn)?.key
}

function Older({ model, isAtStart }: { model: SessionModel; isAtStart: boolean }) {
  if (!isAtStart) return null
  switch (model.older.value) {
    case 'none':
      return null
    case 'failed':
      return (
        <p class="older">
          {words.olderFailed}{' '}
          <button class="txt" type="button" onClick={() => void model.loadOlder()}>
            {words.tryAgain}
          </button>
        </p>
      )
    case 'loading':
      return <p class="older">{words.loadingOlder}</p>
    case 'more':
      return (
        <p class="older">
          <button class="txt" type="button" onClick={() => void model.loadOlder()}>
            {words.older}
          </button>
        </p>
      )
  }
}

const lateAfterMs = 300

function Empty({ model, facts }: { model: SessionModel; facts: SessionFacts }) {
  const isLate = useAfter(lateAfterMs)
  if (model.feed.value === 'live') return <SessionEmpty title={words.emptyTitle(facts.agentShort, facts.folder)} text={words.emptyHint} />
  if (!isLate) return null
  return (
    <div class="chat-loading" role="status">
      <span class="vh">{words.loading}</span>
      <i />
      <i />
      <i />
    </div>
  )
}

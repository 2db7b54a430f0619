import { useState } from 'preact/hooks'
import { trueNow } from '../../core/clock.ts'
import { live } from '../../model/account/account.ts'
import type { SessionFacts } from '../../model/session/facts.ts'
import { changeMetadata } from '../../model/session/metadata.ts'
import { Problem } from '../../ui/banner.tsx'
import { useBusy } from '../../ui/behavior/busy.ts'
import { Button } from '../../ui/button.tsx'
import { lists } from '../../words/lists.ts'
import { date } from '../../words/time.ts'

/**
 * Whether someone else may have the key of the session. A key cannot be revoked: the mark shows this on all devices, and messages
 * in a fork have a new key.
 */
export function KeyMark({ facts }: { facts: SessionFacts }) {
  const [hasFailed, setFailed] = useState(false)
  const { isBusy, run } = useBusy()
  const link = live.value
  const { compromisedAt } = facts
  const isMarked = compromisedAt !== undefined
  // The account key is different: it opens every session.
  if (!facts.hasOwnKey) return null
  const turn = () =>
    run(async () => {
      if (!link) return setFailed(true)
      setFailed(false)
      const changed = { compromisedAt: isMarked ? null : trueNow() }
      await changeMetadata(link, facts.id, metadata => ({ ...metadata, ...changed })).catch(() => setFailed(true))
    })
  return (
    <section class="heard">
      <h3>{isMarked ? lists.compromisedSince(date(compromisedAt)) : lists.compromisedAsk}</h3>
      <p class="hint">{lists.compromisedText}</p>
      {hasFailed && <Problem title={lists.notDone} />}
      <div class="acts">
        <Button look="quiet" isLarge isWide onClick={() => void turn()} busy={isBusy && lists.saving}>
          {isMarked ? lists.compromisedNot : lists.compromisedMark}
        </Button>
      </div>
    </section>
  )
}

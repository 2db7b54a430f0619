import { useState } from 'preact/hooks'
import { now } from '../core/clock.ts'
import { live } from '../model/account/account.ts'
import type { Live } from '../model/account/live.ts'
import { Problem } from '../ui/banner.tsx'
import { useBusy } from '../ui/behavior/busy.ts'
import { Button } from '../ui/button.tsx'
import { copySecret } from '../ui/copy.ts'
import { Empty } from '../ui/empty.tsx'
import { Field } from '../ui/field.tsx'
import { Icon } from '../ui/icons/icon.tsx'
import type { QrDrawing } from '../ui/qr.ts'
import { Sheet } from '../ui/sheet.tsx'
import { toast } from '../ui/toast.ts'
import { people as words } from '../words/people.ts'
import { agoInWords, fullTime } from '../words/time.ts'
import { Loaded } from './loaded.tsx'
import { type Applicant, approveApplicant, type Invite, invite, type People, readPeople, rejectApplicant, revokeInvite } from './people.ts'

const lookEveryMs = 10_000

/** For the owner of the server: people waiting for approval, and invitations. */
export function PeoplePage() {
  return (
    <Loaded
      read={readPeople}
      everyMs={lookEveryMs}
      show={(people, again) =>
        people === 'not-owner' ? (
          <Empty title={words.notOwner} text={words.notOwnerText} />
        ) : (
          <>
            <Waiting people={people} again={again} />
            <Invites people={people} again={again} />
          </>
        )
      }
    />
  )
}

function Waiting({ people, again }: { people: People; again(): void }) {
  return (
    <section class="grp">
      <h2>{words.waiting}</h2>
      {people.waiting.length === 0 ? (
        <p class="lead">{words.nobody}</p>
      ) : (
        <>
          <ul class="card tight">
            {people.waiting.map(applicant => (
              <li key={applicant.fingerprint}>
                <ApplicantRow applicant={applicant} again={again} />
              </li>
            ))}
          </ul>
          <p class="hint">{words.compare}</p>
        </>
      )}
    </section>
  )
}

function ApplicantRow({ applicant, again }: { applicant: Applicant; again(): void }) {
  const [hasFailed, setFailed] = useState(false)
  const { isBusy, run } = useBusy()
  const decide = (how: (link: Live, applicant: Applicant) => Promise<void>, done: string) =>
    run(async () => {
      const link = live.peek()
      if (!link) return setFailed(true)
      try {
        await how(link, applicant)
        toast(done)
        again()
      } catch {
        setFailed(true)
        again()
      }
    })
  return (
    <div class="applicant">
      <code class="words-4">{applicant.fingerprint.replaceAll('-', ' ')}</code>
      <p class="hint">
        <span dir="auto">{words.from(applicant.client, applicant.address)}</span>
        <br />
        <time title={fullTime(applicant.askedAt)}>{words.asked(agoInWords(applicant.askedAt, now.value))}</time>
      </p>
      {hasFailed && <Problem title={words.notDone} text={words.notDoneText} />}
      <div class="acts">
        <Button look="quiet" onClick={() => void decide(rejectApplicant, words.turnedAway)} isOff={isBusy}>
          {words.reject}
        </Button>
        <Button look="primary" onClick={() => void decide(approveApplicant, words.letIn)} busy={isBusy && words.deciding}>
          {words.approve}
        </Button>
      </div>
    </div>
  )
}

function Invites({ people, again }: { people: People; again(): void }) {
  const [isInviting, setInviting] = useState(false)
  return (
    <section class="grp">
      <h2>{words.invites}</h2>
      {people.invites.length === 0 ? (
        <p class="lead">{words.noInvites}</p>
      ) : (
        <ul class="card tight">
          {people.invites.map(each => (
            <li key={each.id}>
              <InviteRow invite={each} again={again} />
            </li>
          ))}
        </ul>
      )}
      <div class="grp-act">
        <Button look="primary" icon="plus" isWide onClick={() => setInviting(true)}>
          {words.invite}
        </Button>
      </div>
      {isInviting && (
        <InviteSheet
          onMade={again}
          onClose={() => {
            setInviting(false)
          }}
        />
      )}
    </section>
  )
}

function InviteRow({ invite: each, again }: { invite: Invite; again(): void }) {
  const { isBusy, run } = useBusy()
  const name = each.label === '' ? words.unnamed : each.label
  const isLive = each.state === 'unused' || each.state === 'open'
  const what = isLive ? words.revoke : words.forget
  const revoke = () =>
    run(async () => {
      const link = live.peek()
      await (link ? revokeInvite(link, each) : Promise.reject(new Error('no link'))).catch(() => toast(words.notDone))
      again()
    })
  return (
    <div class="irow">
      <Icon name="link" />
      <span>
        <b dir="auto">{name}</b>
        <small title={fullTime(each.createdAt)}>
          {isLive ? words.until(words.states[each.state], fullTime(each.endsAt)) : words.states[each.state]}
        </small>
      </span>
      <button
        class={`txt ${isLive ? 'danger-t' : ''}`}
        type="button"
        aria-label={`${what} ${name}`}
        aria-disabled={isBusy ? true : undefined}
        onClick={() => void revoke()}
      >
        {what}
      </button>
    </div>
  )
}

function InviteSheet({ onMade, onClose }: { onMade(): void; onClose(): void }) {
  const [label, setLabel] = useState('')
  const [made, setMade] = useState<{ link: string; qr: QrDrawing }>()
  const [hasFailed, setFailed] = useState(false)
  const { isBusy, run } = useBusy()
  const make = (event: Event) => {
    event.preventDefault()
    void run(async () => {
      setFailed(false)
      try {
        const server = live.peek()
        if (!server) return setFailed(true)
        const [link, { drawQr }] = await Promise.all([invite(server, label.trim()), import('../ui/qr.ts')])
        setMade({ link, qr: drawQr(link) })
        onMade()
      } catch {
        setFailed(true)
      }
    })
  }
  if (made) {
    return (
      <Sheet title={words.linkReady} onClose={onClose}>
        <p class="lead">{words.linkOnce}</p>
        <svg class="qr" viewBox={made.qr.viewBox} role="img" aria-label={words.qr}>
          <path d={made.qr.path} />
        </svg>
        <code class="path-t">{made.link}</code>
        <Button look="primary" isLarge isWide icon="copy" onClick={() => void copySecret(made.link)}>
          {words.copyLink}
        </Button>
      </Sheet>
    )
  }
  return (
    <Sheet title={words.inviteTitle} onClose={onClose}>
      <form class="form" onSubmit={make}>
        <p class="lead">{words.inviteText}</p>
        <Field label={words.label} hint={words.labelHint} value={label} onInput={setLabel} maxLength={100} />
        {hasFailed && <Problem title={words.notDone} text={words.failedText} />}
        <Button look="primary" type="submit" isLarge isWide busy={isBusy && words.making}>
          {words.make}
        </Button>
      </form>
    </Sheet>
  )
}

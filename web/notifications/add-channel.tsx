import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Refused } from '../../lib/client/index.ts'
import { causeOf } from '../model/notifications/channel-health.ts'
import type { NotificationContext } from '../model/notifications/notifications.ts'
import { Banner, Problem } from '../ui/banner.tsx'
import { useAnswer } from '../ui/behavior/answer.ts'
import { useBusy } from '../ui/behavior/busy.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { copySecret } from '../ui/copy.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { Field } from '../ui/field.tsx'
import { notifications as words } from '../words/notifications.ts'
import { type Added, addNtfy, addWebhook, newTopic, newWebhookSecret, ntfyLink, readAddress } from './new-channel.ts'

/** The result of adding a channel; `unknown`: it was added, but the result of its test is unknown. */
type Adding = { type: 'added'; added: Added | undefined } | { type: 'refused'; status: number } | { type: 'unreached' }

/** Adds an unguessable ntfy topic: how to subscribe to it, and a test. */
export function AddNtfy({ link }: NotificationContext) {
  const [isOwn, setOwn] = useState(false)
  const [topic, setTopic] = useState(newTopic)
  const [address, setAddress] = useState('')
  const [token, setToken] = useState('')
  const { adding, isBusy, add } = useAdding()
  const url = isOwn ? readAddress(address, topic) : `https://ntfy.sh/${topic}`
  if (adding?.type === 'added') return <Done adding={adding} />
  return (
    <form
      class="form"
      onSubmit={event => {
        event.preventDefault()
        if (url !== undefined) add(() => addNtfy(link, { url, token: isOwn ? token.trim() : '' }))
      }}
    >
      <p class="lead">{words.ntfyLead}</p>
      <fieldset class="picks">
        <legend>{words.ntfyWhere}</legend>
        {[false, true].map(own => (
          <label key={String(own)} class="pick">
            <input type="radio" name="server" checked={own === isOwn} onChange={() => setOwn(own)} />
            <span>{own ? words.ntfyOwn : words.ntfyPublic}</span>
          </label>
        ))}
      </fieldset>
      {isOwn && (
        <>
          <Field
            label={words.ntfyAddress}
            hint={words.ntfyAddressHint}
            error={address !== '' && url === undefined ? words.ntfyAddressWrong : undefined}
            value={address}
            onInput={setAddress}
            isCode
          />
          <Field label={words.ntfyToken} hint={words.ntfyTokenHint} value={token} onInput={setToken} isSecret />
        </>
      )}
      {url !== undefined && <Follow url={url} onAnother={() => setTopic(newTopic())} />}
      <NotAdded adding={adding} />
      <Button look="primary" type="submit" icon="bell-ring" isLarge isWide isOff={url === undefined} busy={isBusy && words.adding}>
        {words.ntfyAdd}
      </Button>
    </form>
  )
}

/** How to subscribe to a topic in the ntfy app. */
function Follow({ url, onAnother }: { url: string; onAnother(): void }) {
  const { last: qr } = useAnswer(async () => (await import('../ui/qr.ts')).drawQr(url), [url])
  const opens = ntfyLink(url)
  return (
    <section class="card form">
      <h2 class="card-h">{words.ntfyFollow}</h2>
      <div class="md">
        <ol>
          {words.ntfySteps.map(step => (
            <li key={step}>{step}</li>
          ))}
        </ol>
      </div>
      <div class="link-command">
        <div class="irow command">
          <span>
            <code>{url}</code>
          </span>
          <CopyButton text={url} what={words.ntfyTopic} />
        </div>
        <p class="hint">{words.ntfyTopicHint}</p>
      </div>
      <div class="acts">
        {opens !== undefined && (
          <ButtonLink look="quiet" href={opens} icon="external-link">
            {words.ntfyOpen}
          </ButtonLink>
        )}
        <Button look="quiet" icon="refresh-cw" onClick={onAnother}>
          {words.ntfyAnother}
        </Button>
      </div>
      {qr && (
        <svg class="qr" viewBox={qr.viewBox} role="img" aria-label={words.ntfyQr}>
          <path d={qr.path} />
        </svg>
      )}
    </section>
  )
}

/** Adds a webhook: an address for signed requests, and the secret that signs them. */
export function AddWebhook({ link }: NotificationContext) {
  const [address, setAddress] = useState('')
  const [secret] = useState(newWebhookSecret)
  const { adding, isBusy, add } = useAdding()
  const url = readAddress(address)
  if (adding?.type === 'added') {
    return (
      <Done adding={adding}>
        <section class="card form">
          <div class="intro">
            <h2 class="card-h">{words.webhookSecret}</h2>
            <p class="lead">{words.webhookOnce}</p>
          </div>
          <code class="path-t token">{secret}</code>
          <Button look="quiet" icon="copy" isWide onClick={() => void copySecret(secret)}>
            {words.webhookCopy}
          </Button>
        </section>
      </Done>
    )
  }
  return (
    <form
      class="form"
      onSubmit={event => {
        event.preventDefault()
        if (url !== undefined) add(() => addWebhook(link, { url, secret }))
      }}
    >
      <p class="lead">{words.webhookLead}</p>
      <Field
        label={words.ntfyAddress}
        hint={words.webhookHint}
        error={address !== '' && url === undefined ? words.ntfyAddressWrong : undefined}
        value={address}
        onInput={setAddress}
        isCode
      />
      <NotAdded adding={adding} />
      <Button look="primary" type="submit" icon="plus" isLarge isWide isOff={url === undefined} busy={isBusy && words.adding}>
        {words.webhookAdd}
      </Button>
    </form>
  )
}

function useAdding() {
  const [adding, setAdding] = useState<Adding>()
  const { isBusy, run } = useBusy()
  const add = (work: () => Promise<Added | undefined>) =>
    void run(async () => {
      setAdding(undefined)
      try {
        setAdding({ type: 'added', added: await work() })
      } catch (error) {
        setAdding(error instanceof Refused ? { type: 'refused', status: error.status } : { type: 'unreached' })
      }
    })
  return { adding, isBusy, add }
}

function NotAdded({ adding }: { adding: Adding | undefined }) {
  if (adding === undefined || adding.type === 'added') return null
  const isUnusable = adding.type === 'refused' && adding.status === 400
  return isUnusable ? (
    <Problem title={words.addRefused} text={words.addRefusedText} />
  ) : (
    <Problem title={words.notDone} text={words.notDoneText} />
  )
}

function Done({ adding: { added }, children }: { adding: Extract<Adding, { type: 'added' }>; children?: ComponentChildren }) {
  const tried = added?.tried
  const isThere = tried?.outcome === 'accepted' || tried?.outcome === 'arrived'
  return (
    <>
      {tried === undefined ? (
        <Banner icon="circle-check" title={words.added} text={words.addedWaiting} />
      ) : isThere ? (
        <Banner icon="circle-check" title={words.added} text={words.addedText} />
      ) : (
        <Problem title={words.addedFailed} text={words.causes[causeOf(tried)]} />
      )}
      {children}
      <ButtonLink look="primary" href="/settings/notifications" isWide>
        {words.done}
      </ButtonLink>
    </>
  )
}

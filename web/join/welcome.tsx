import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { isPairingWaiting } from '../core/router.ts'
import { account } from '../model/account/account.ts'
import { Banner, Problem } from '../ui/banner.tsx'
import { useAnswer } from '../ui/behavior/answer.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { Icon } from '../ui/icons/icon.tsx'
import { Lazy } from '../ui/lazy.tsx'
import { Scene } from '../ui/sky.tsx'
import { words } from '../words/index.ts'

/** The first screen of a new device, and of one whose sign-in the server ended. */
export function WelcomeScreen() {
  return (
    <Welcome>
      {isPairingWaiting() && <Banner icon="link" title={words.welcome.pairing} text={words.welcome.pairingText} />}
      <PrivateNote />
      <ul class="w-facts">
        <li>
          <Icon name="lock-keyhole" />
          <span>{words.welcome.sealed}</span>
        </li>
        <li>
          <Icon name="check-check" />
          <span>{words.welcome.honest}</span>
        </li>
      </ul>
      <div class="w-acts">{account.value.type === 'unlinked' ? <WaysBack /> : <WaysIn />}</div>
      <FirstAccount />
    </Welcome>
  )
}

// The first paint does not wait for it.
const askServer = async () => (await import('../model/account/about.ts')).askServer()

function WaysIn() {
  const { value: facts } = useAnswer(askServer, [])
  if (facts?.acceptsAccounts === false) return <WaysToOwn />
  return (
    <>
      <ButtonLink look="primary" href="/start" isLarge isWide>
        {words.welcome.create}
      </ButtonLink>
      <ButtonLink look="quiet" href="/link" isLarge isWide icon="smartphone">
        {words.welcome.link}
      </ButtonLink>
      <ButtonLink look="text" href="/restore" isWide>
        {words.welcome.restore}
      </ButtonLink>
    </>
  )
}

/** On a server that rejects new accounts, creating one would end in an error. */
function WaysToOwn() {
  return (
    <>
      <ButtonLink look="primary" href="/link" isLarge isWide icon="smartphone">
        {words.welcome.link}
      </ButtonLink>
      <ButtonLink look="quiet" href="/restore" isLarge isWide>
        {words.welcome.restore}
      </ButtonLink>
      <p class="hint">{words.welcome.closed}</p>
    </>
  )
}

/** Only on a server without any account. */
function FirstAccount() {
  const { value: facts } = useAnswer(askServer, [])
  if (!facts?.needsSetupCode) return null
  return <Lazy load={() => import('./restore-server.tsx')} show={({ RestoreServer }) => <RestoreServer />} />
}

/** Before another account can be used here, the existing key has to be removed. */
function WaysBack() {
  const [isRemoving, setRemoving] = useState(false)
  return (
    <>
      <ButtonLink look="primary" href="/start" isLarge isWide>
        {words.welcome.signInAgain}
      </ButtonLink>
      <Button look="text" isWide onClick={() => setRemoving(true)}>
        {words.welcome.removeKey}
      </Button>
      {isRemoving && (
        <Lazy
          load={() => import('../keys/removal.tsx')}
          show={({ KeyRemovalSheet }) => <KeyRemovalSheet onClose={() => setRemoving(false)} />}
        />
      )}
    </>
  )
}

function PrivateNote() {
  const isForgetful = useAnswer(() => import('../core/private-window.ts').then(module => module.isForgetful()), []).value
  if (!isForgetful) return null
  return <Banner icon="circle-alert" title={words.welcome.forgetful} text={words.welcome.forgetfulText} />
}

/** Over plain HTTP from another computer, browsers offer no cryptography. */
export function InsecureScreen() {
  return (
    <Welcome>
      <Problem title={words.welcome.insecure} text={words.welcome.insecureText} />
    </Welcome>
  )
}

export function NoStorageScreen() {
  return (
    <Welcome>
      <Problem title={words.welcome.noStorage} text={words.welcome.noStorageText} />
    </Welcome>
  )
}

function Welcome({ children }: { children: ComponentChildren }) {
  const version = useAnswer(() => import('../model/account/about.ts').then(({ serverVersion }) => serverVersion()), []).value
  return (
    <div class="screen welcome">
      <div class="w-art">
        <Scene />
      </div>
      <div class="w-body">
        <h1 tabIndex={-1}>
          <span>{words.app}</span> {words.slogan}
        </h1>
        {children}
        <p class="w-server">
          <Icon name="server" />
          {location.host}
          {version !== undefined && ` · ${words.app} ${version}`}
        </p>
      </div>
    </div>
  )
}

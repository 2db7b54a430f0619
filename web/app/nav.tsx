import type { ComponentChildren } from 'preact'
import { route } from '../core/router.ts'
import type { Route } from '../core/routes.ts'
import { shouldCheckKey } from '../model/account/account.ts'
import { decisions } from '../model/groups.ts'
import { Icon, type IconName } from '../ui/icons/icon.tsx'
import { Logo } from '../ui/icons/logo.tsx'
import { words } from '../words/index.ts'

/** The navigation: a bar at the bottom on phones, a rail at the side elsewhere. */
export function Nav() {
  const waiting = decisions.value.length
  return (
    <nav class="nav" aria-label={words.nav.label}>
      <a class="nav-logo" href="/" aria-label={words.app} tabIndex={-1}>
        <Logo size={36} />
      </a>
      <Tab to="/" of={['home', 'needs-you', 'session']} icon="house" name={words.nav.home}>
        {waiting > 0 && (
          <em class="badge">
            <span aria-hidden="true">{waiting}</span>
            <span class="vh">, {words.nav.needYou(waiting)}</span>
          </em>
        )}
      </Tab>
      <Tab to="/machines" of={['machines', 'machine']} icon="monitor" name={words.nav.machines} />
      <Tab to="/settings" of={['settings']} icon="settings" name={words.nav.settings}>
        {shouldCheckKey.value && (
          <em class="needs-dot">
            <span class="vh">, {words.nav.checkKey}</span>
          </em>
        )}
      </Tab>
      <a class="nav-new" href="/new" aria-current={route.value.name === 'new' ? 'page' : undefined}>
        <Icon name="plus" />
        <span>{words.nav.new}</span>
      </a>
    </nav>
  )
}

function Tab(props: { to: string; of: readonly Route['name'][]; icon: IconName; name: string; children?: ComponentChildren }) {
  return (
    <a class="nav-i" href={props.to} aria-current={props.of.includes(route.value.name) ? 'page' : undefined}>
      <Icon name={props.icon} />
      <span>{props.name}</span>
      {props.children}
    </a>
  )
}

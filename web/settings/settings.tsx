import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { lockChoice } from '../core/lock.ts'
import { theme } from '../core/preferences.ts'
import { route } from '../core/router.ts'
import { parentOf, pathOf, type SettingsPage } from '../core/routes.ts'
import { account, live, shouldCheckKey, signOut } from '../model/account/account.ts'
import { areNotificationsOn, reach } from '../model/notifications/device-notifications.ts'
import { LinkRow } from '../session/row/row.tsx'
import { Bar } from '../ui/bar.tsx'
import { useAnswer } from '../ui/behavior/answer.ts'
import { useBusy } from '../ui/behavior/busy.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { Icon } from '../ui/icons/icon.tsx'
import { Lazy } from '../ui/lazy.tsx'
import { Sheet } from '../ui/sheet.tsx'
import { decide } from '../words/decide.ts'
import { language, languageName } from '../words/language.ts'
import { people as peopleWords } from '../words/people.ts'
import { settings } from '../words/settings.ts'
import { bytes } from '../words/size.ts'
import { date } from '../words/time.ts'
import { AboutPage } from './about.tsx'
import { AccessPage } from './access.tsx'
import { DevicePage } from './device.tsx'
import { DevicesPage } from './devices.tsx'
import { LockPage } from './lock.tsx'
import { AppearancePage, KeyPage, LanguagePage } from './pages.tsx'
import { isOwner, readPeople } from './people.ts'
import { PeoplePage } from './people.tsx'
import { RulesPage } from './rules.tsx'
import { StoragePage } from './storage.tsx'

export function SettingsScreen({ page, item }: { page: SettingsPage | undefined; item: string | undefined }) {
  switch (page) {
    case undefined:
      return <Index />
    case 'devices':
      return (
        <Page title={item === undefined ? settings.devices.title : peopleWords.decided}>
          {item === undefined ? <DevicesPage /> : <DevicePage key={item} id={item} />}
        </Page>
      )
    case 'people':
      return (
        <Page title={peopleWords.title}>
          <PeoplePage />
        </Page>
      )
    case 'access':
      return (
        <Page title={peopleWords.access}>
          <AccessPage />
        </Page>
      )
    case 'appearance':
      return (
        <Page title={settings.appearance.title}>
          <AppearancePage />
        </Page>
      )
    case 'language':
      return (
        <Page title={settings.language}>
          <LanguagePage />
        </Page>
      )
    case 'lock':
      return (
        <Page title={settings.lock}>
          <LockPage />
        </Page>
      )
    case 'notifications':
    case 'quiet':
      return (
        <Lazy
          key="notifications"
          load={() => import('../notifications/notifications.tsx')}
          show={({ NotificationsScreen }) => <NotificationsScreen part={page === 'quiet' ? page : item} />}
        />
      )
    case 'storage':
      return (
        <Page title={settings.storage}>
          <StoragePage />
        </Page>
      )
    case 'rules':
      return (
        <Page title={item === undefined ? decide.rules : item === 'new' ? decide.ruleNew : decide.ruleEdit}>
          <RulesPage key={item ?? ''} item={item} />
        </Page>
      )
    case 'account-key':
      return (
        <Page title={settings.page.key}>
          <KeyPage />
        </Page>
      )
    case 'about':
      return (
        <Page title={settings.about.title}>
          <AboutPage />
        </Page>
      )
  }
}

function Index() {
  const [isLeaving, setLeaving] = useState(false)
  const link = live.value
  useEffect(() => {
    if (link && isOwner.peek() === undefined) readPeople(link).catch(() => {})
  }, [link])
  const { value: kept } = useAnswer(() => navigator.storage.estimate(), [])
  const here = account.value
  const checkedAt = here.type === 'here' ? here.keyCheckedAt : undefined
  return (
    <div class="screen">
      <Bar title={settings.page.title} />
      <div class="scroll">
        <div class="col form">
          <section class="grp">
            <h2>{settings.page.account}</h2>
            <div class="card tight">
              <LinkRow
                href="/settings/account-key"
                icon="key-round"
                title={settings.page.key}
                text={checkedAt === undefined ? settings.page.keyUnchecked : settings.page.keyChecked(date(checkedAt))}
              >
                {shouldCheckKey.value && <i class="needs-dot" />}
              </LinkRow>
              <LinkRow href="/settings/devices" icon="smartphone" title={settings.page.devices} text={settings.page.devicesValue} />
              <LinkRow href="/settings/lock" icon="lock" title={settings.lock} text={settings.lockChoices[lockChoice.value][0]} />
              <LinkRow
                href="/settings/notifications"
                icon="bell"
                title={settings.notifications}
                text={
                  areNotificationsOn.value
                    ? settings.notificationsOn
                    : reach.value === 'denied'
                      ? settings.notificationsBlocked
                      : settings.notificationsOff
                }
              />
              <LinkRow href="/settings/rules" icon="shield-check" title={decide.rules} text={decide.rulesValue} />
              <LinkRow href="/settings/access" icon="link" title={peopleWords.access} text={peopleWords.accessValue} />
            </div>
          </section>
          {isOwner.value === true && (
            <section class="grp">
              <h2>{settings.page.server}</h2>
              <div class="card tight">
                <LinkRow href="/settings/people" icon="hand" title={peopleWords.title} text={peopleWords.value} />
              </div>
            </section>
          )}
          <section class="grp">
            <h2>{settings.page.app}</h2>
            <div class="card tight">
              <LinkRow
                href="/settings/appearance"
                icon="sun-moon"
                title={settings.page.appearance}
                text={settings.appearance[theme.value]}
              />
              <LinkRow href="/settings/language" icon="languages" title={settings.language} text={languageName(language)} />
              <LinkRow
                href="/settings/storage"
                icon="archive"
                title={settings.storage}
                text={kept?.usage === undefined ? undefined : bytes(kept.usage)}
              />
              <LinkRow href="/settings/about" icon="info" title={settings.page.about} text={location.host} />
            </div>
          </section>
          <div class="card tight">
            <button class="irow dng" type="button" onClick={() => setLeaving(true)}>
              <Icon name="log-out" />
              <span>
                <b>{settings.page.signOut}</b>
                <small>{settings.page.signOutHint}</small>
              </span>
            </button>
          </div>
        </div>
      </div>
      {isLeaving && <SignOutSheet isChecked={checkedAt !== undefined} onClose={() => setLeaving(false)} />}
    </div>
  )
}

function SignOutSheet({ isChecked, onClose }: { isChecked: boolean; onClose(): void }) {
  const { isBusy, run } = useBusy()
  return (
    <Sheet title={settings.page.signOutTitle} onClose={onClose}>
      <p class={isChecked ? 'lead' : 'lead danger-t'}>{isChecked ? settings.page.signOutText : settings.page.signOutUnchecked}</p>
      <div class="acts">
        {!isChecked && (
          <ButtonLink look="quiet" href="/settings/account-key">
            {settings.page.checkFirst}
          </ButtonLink>
        )}
        <Button look="danger" onClick={() => void run(signOut)} busy={isBusy && settings.page.signingOut}>
          {settings.page.signOutConfirm}
        </Button>
      </div>
    </Sheet>
  )
}

function Page({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div class="screen">
      <Bar title={title} back={pathOf(parentOf(route.value))} keepBack />
      <div class="scroll">
        <div class="col form">{children}</div>
      </div>
    </div>
  )
}

import type { NotificationSettings, RingKind } from '../../protocol/wire/notifications.ts'

interface Words {
  title: string
  body: string
}

/** Providers, phone makers and lock screens read these, so they reveal nothing of the agent's work. */
export function wordsFor(kind: RingKind, language: NotificationSettings['language']): Words {
  return words[language][kind]
}

const words: Record<NotificationSettings['language'], Record<RingKind, Words>> = {
  en: {
    done: { title: 'Your agent is done', body: 'Open the app to see it.' },
    permission: { title: 'Your agent needs a decision', body: 'Open the app to decide.' },
    question: { title: 'Your agent has a question', body: 'Open the app to answer.' },
    error: { title: 'Your agent ran into an error', body: 'Open the app to see it.' },
    failed: { title: 'A session stopped', body: 'Open the app to see why.' },
    silent: { title: 'Your agent has gone quiet', body: 'Open the app to check on it.' },
    machine: { title: 'A computer went offline', body: 'Its sessions wait until it is back.' },
    device: { title: 'A new device signed in', body: 'If that was not you, unlink it under Devices.' },
    test: { title: 'This is a test', body: 'Notifications reach this device.' },
    digest: { title: 'During quiet hours', body: 'Open the app to see what happened.' }
  },
  zh: {
    done: { title: '智能体已完成', body: '打开应用查看。' },
    permission: { title: '智能体需要你决定', body: '打开应用作出决定。' },
    question: { title: '智能体有一个问题', body: '打开应用回答。' },
    error: { title: '智能体遇到错误', body: '打开应用查看。' },
    failed: { title: '一个会话已停止', body: '打开应用查看原因。' },
    silent: { title: '智能体长时间没有动静', body: '打开应用看看。' },
    machine: { title: '一台电脑已离线', body: '它恢复之前，会话会等待。' },
    device: { title: '有新设备登录', body: '如果不是你，请在“设备”中解除它的关联。' },
    test: { title: '这是一条测试通知', body: '通知可以送达此设备。' },
    digest: { title: '安静时段期间', body: '打开应用查看发生了什么。' }
  }
}

import type { AlertWords } from '../alerts.ts'

export const alerts: AlertWords = {
  alert: {
    permission: '有智能体需要你决定',
    question: '有智能体向你提问',
    done: '有智能体已完成',
    error: '有智能体遇到错误',
    failed: '一个会话已停止',
    silent: '有智能体长时间没有动静'
  },
  open: '打开',
  close: '关闭',

  askTitle: '智能体卡住时通知你',
  askText: '哪些事通知你、哪些有声音，都由你选择。',
  turnOn: '开启',
  notNow: '以后再说',
  homeScreenTitle: '将 Afield 添加到主屏幕',
  homeScreenText: 'iOS 只向主屏幕上的应用发送通知：轻点“共享”，再轻点“添加到主屏幕”。',
  deniedTitle: '此网站的通知已被阻止',
  deniedText: '“设置”里说明了如何在此允许通知。',
  deniedSee: '查看方法',
  gotIt: '知道了'
}

import type { AppWords } from '../app.ts'

export const app: AppWords = {
  app: 'Afield',
  slogan: '身在远处，编程智能体照常工作。',
  skip: '跳到内容',
  back: '返回',
  close: '关闭',
  cancel: '取消',
  copied: '已复制',
  notCopied: '未复制：浏览器拒绝访问剪贴板。',
  copyThe: what => `复制${what}`,
  output: '输出',
  tryAgain: '重试',
  holdOn: '请按住，直到进度条填满。',
  details: '详情',

  nav: {
    label: '主导航',
    home: '主页',
    machines: '电脑',
    settings: '设置',
    new: '新建',
    checkKey: '账户密钥还没有核对',
    needYou: n => `${n} 个需要你`
  },

  state: {
    needs: '需要你',
    working: '工作中',
    done: '已完成，未读',
    failed: '失败',
    quiet: '空闲',
    ended: '已结束',
    away: '不在线'
  },

  session: {
    sealed: '无法解密此会话',
    sealedText: '它的密钥属于另一个账户。',
    untitled: '新会话',
    starting: '刚刚启动',
    working: '工作中',
    ready: '可以发消息了',
    waitsFor: host => `等待 ${host}`,
    daemonGone: '它的守护进程没有运行',
    failed: '因错误停止',
    cancelled: '已停止',
    you: text => `你：${text}`,
    added: count => `新增 ${count} 行`,
    removed: count => `删除 ${count} 行`,
    ran: what => `已运行 ${what}`,
    running: what => `正在运行 ${what}`,
    runningFor: (what, time) => `正在运行 ${what}，${time}`,
    file: name => `已发送 ${name}`,
    planned: (done, all) => `计划，${done} / ${all}`,
    limit: '已达用量上限',
    loadFailed: '应用的这一部分无法加载',
    loadFailedText: '请检查网络后重试。'
  },

  decision: {
    execute: '运行命令',
    edit: file => (file ? `编辑 ${file}` : '编辑文件'),
    delete: file => (file ? `删除 ${file}` : '删除文件'),
    move: '移动文件',
    read: file => (file ? `读取 ${file}` : '读取文件'),
    search: '搜索',
    fetch: host => (host ? `从 ${host} 获取内容` : '从网络获取内容'),
    think: '继续',
    plan: '按计划开始工作',
    other: tool => `使用 ${tool}`
  },

  connection: {
    live: '已连接',
    starting: '正在连接',
    catchingUp: '正在追上进度',
    messagesOf: (done, all) => `${done}/${all} 条消息`,
    catchingUpText: '到齐之后，新内容会一起出现。',
    offline: '你已离线',
    offlineText: at => `最后更新于 ${at}。`,
    offlineNothing: '此设备上还没有保存任何内容。',
    leaves: n => `恢复连接后发出 ${n} 项。`,
    offlineShort: since => (since ? `离线，${since}` : '离线'),
    silent: '服务器没有响应',
    silentNext: seconds => `你的设备在线。${seconds} 秒后重试。`,
    silentNow: '你的设备在线。正在重试。',
    silentShort: '没有响应',
    blocked: 'WebSocket 被拦截',
    blockedText: '服务器有应答，但反向代理、VPN 或当前网络拦截了实时连接。',
    tryNow: '立即重试',
    check: '检查连接',
    checking: '正在检查',
    letGo: '松开以检查连接',
    unlinked: on => `此设备于 ${on}解除关联`,
    unlinkedText: '会话已移除。账户密钥仍在此设备上。',
    clockOff: (by, isAhead) => `此设备的时钟${isAhead ? '快了' : '慢了'} ${by}`,
    clockOffText: '在校准之前，时间间隔以服务器为准。其他一切不受影响。',
    newer: '新版 Afield 已就绪',
    newerText: '只需一秒，不会丢失任何内容。',
    reload: '重新加载'
  },

  welcome: {
    sealed: '在你的设备上加密。这台服务器读不到你的工作内容。',
    honest: '什么已送达、什么已被读、什么在等待，你都看得到。',
    create: '创建账户',
    link: '用已有设备关联',
    restore: '用账户密钥恢复',
    closed: '这台服务器不接受新账户。如需账户，请询问其所有者。',
    signInAgain: '重新登录',
    removeKey: '从此设备移除账户密钥',
    pairing: '先有账户，再关联电脑',
    pairingText: '请在此设备上创建或打开你的账户。请求五分钟后过期。',
    insecure: '请通过 HTTPS 或在 localhost 打开 Afield',
    insecureText:
      '否则浏览器不允许使用密钥和通知。启动服务器时加上 --https auto，它会说明这台电脑怎样取得证书；只是试用，可加 --tunnel cloudflared。',
    forgetful: '此窗口关闭时会忘记一切',
    forgetfulText: '这是无痕窗口。请使用普通窗口，或把账户密钥存放在别处。',
    noStorage: '此窗口无法保存数据',
    noStorageText: '请在普通窗口中打开 Afield：账户密钥必须保存在此设备上。'
  },

  machines: {
    title: '电脑',
    add: '关联电脑',
    empty: '还没有关联电脑',
    emptyText: '在运行智能体的电脑上输入这条命令，然后打开它显示的地址，或扫描它的二维码。',
    online: '在线',
    idle: '没有智能体在运行',
    away: '不在线',
    sinceAway: when => `${when} 起不在线`,
    daemonStopped: when => `守护进程已于 ${when} 停止`,
    agents: n => (n === 0 ? '没有智能体在运行' : `${n} 个智能体在运行`),
    sealed: '无法解密此电脑的信息'
  },

  machine: {
    gone: '此电脑已不再关联',
    facts: '详情',
    system: '系统',
    version: 'Afield 版本',
    home: '主文件夹',
    linked: '关联于',
    seen: '最后在线',
    running: '正在运行',
    earlier: '此前在这里',
    none: '现在没有智能体在这里运行。',
    awayTitle: '你可以做什么',
    stopped: '它的守护进程已停止，或者电脑已关机。',
    awayText: ['唤醒它，检查电源和网络，或在它上面运行 ', 'afield doctor', '。']
  },

  new: {
    title: '新建会话',
    heading: '智能体在你的电脑上启动',
    lead: '在代码所在的地方运行其中一条。会话会立即出现在这里，你可以用手机继续。',
    inClone: '这些命令在 Afield 源代码所在的文件夹中有效。在其他地方，请写出它的位置：node ~/afield/build.mjs start claude。',
    claude: 'Claude Code，以及你为它设置的一切',
    run: '任何其他支持 ACP 的智能体',
    demo: '按脚本演示的智能体，不用账户就能试',
    firstTime: '在新的电脑上',
    firstTimeText: '请先关联：在那里运行这条命令，然后打开它显示的地址，或扫描它的二维码。',
    scan: '扫描二维码',
    copy: command => `复制 ${command}`
  },

  locked: {
    title: 'Afield 已锁定',
    text: '智能体照常工作。账户中的任何内容都不会显示。',
    unlock: '解锁',
    withKey: '改用账户密钥',
    keyWrong: '这不是此账户的密钥。',
    failed: '解锁失败。请重试。',
    asking: '正在等待确认',
    key: '账户密钥'
  },

  full: {
    device: '此设备没有剩余空间',
    deviceText: '消息仍在服务器上。新消息不会保存在这里。',
    server: '服务器没有空间了',
    serverText: '智能体会继续工作，它们的消息会排队。你的消息在这里等待。',
    free: '释放空间'
  },

  unknown: { title: '找不到页面', text: '地址可能输入有误，或属于更新版本的 Afield。', home: '主页' }
}

import HealthModel

/// Others who publish on our topics: how often they are corrected, and whether one of them is a stack. Pure.
struct Rivalry {
    /// When each topic was last corrected, and the topics to be corrected again.
    private var corrected: [String: MonotonicTime] = [:]
    private var due: Set<String> = []
    /// When another stack was last noticed.
    private var noticed: MonotonicTime?
    /// Found retained when we connected: a message that a stack is online, and a day of another stack.
    private var saysOnline = false
    private var hasOthersDays = false

    /// Two programs that overwrite each other's messages do so no faster than this.
    static let pause = Duration.seconds(10)
    /// Another stack may be quiet overnight.
    static let memory = Duration.seconds(24 * 3600)

    /// The connection is new.
    mutating func startOver() {
        (corrected, due) = ([:], [])
        (saysOnline, hasOthersDays) = (false, false)
    }

    /// A topic holds something other than what we sent.
    mutating func dispute(_ topic: String) { due.insert(topic) }

    /// The topics to send again now.
    mutating func takeDue(at now: MonotonicTime) -> [String] {
        let ready = due.filter { topic in corrected[topic].map { now - $0 >= Self.pause } ?? true }
        for topic in ready { corrected[topic] = now }
        due.subtract(ready)
        return ready.sorted()
    }

    /// When the next topic will be due.
    var next: MonotonicTime? { due.compactMap { corrected[$0] }.min().map { $0 + Self.pause } }

    /// Another stack has just published something.
    mutating func notice(at now: MonotonicTime) { noticed = now }

    /// The broker had this when we connected.
    mutating func find(isOnline: Bool = false, isOthersDay: Bool = false, at now: MonotonicTime) {
        saysOnline = saysOnline || isOnline
        hasOthersDays = hasOthersDays || isOthersDay
        if saysOnline, hasOthersDays { noticed = now }
    }

    /// Whether another stack uses our topics.
    func isOn(at now: MonotonicTime) -> Bool { noticed.map { now - $0 < Self.memory } ?? false }
}

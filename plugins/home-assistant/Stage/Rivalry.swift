import HealthModel

/// Others who publish on our topics: how often their messages are corrected, and whether one of them is a stack. Pure.
///
/// Of two stacks, the one that finds the other's messages when it connects yields: it publishes nothing, since it would
/// overwrite the other's figures.
struct Rivalry {
    /// When each topic was last corrected, and the topics to be corrected again.
    private var corrected: [String: MonotonicTime] = [:]
    private var due: Set<String> = []
    /// When another stack was last noticed, and when it said that it is offline.
    private var noticed: MonotonicTime?
    private var left: MonotonicTime?
    /// Until `looked`, the broker's retained messages are still arriving.
    private var isLooking = true
    private var begun: MonotonicTime?
    /// Found retained when we connected: a message that a stack is online, and days of another stack.
    private var saysOnline = false
    private var othersDays: Set<String> = []
    private var hasYielded = false

    /// Two programs that overwrite each other's messages do so no faster than this.
    static let pause = Duration.seconds(10)
    /// Another stack may be quiet overnight.
    static let memory = Duration.seconds(24 * 3600)
    /// A stack that was restarted is back within this time.
    static let absence = Duration.seconds(120)

    /// Starts over because the connection is new.
    mutating func startOver(at now: MonotonicTime) {
        (corrected, due) = ([:], [])
        (saysOnline, othersDays) = (false, [])
        (isLooking, begun, hasYielded, left) = (true, now, false, nil)
    }

    /// Notes that all retained messages have arrived.
    mutating func looked() { isLooking = false }

    /// Whether something may be published: it is known what the broker has, and that isn't another stack's.
    func mayPublish(at now: MonotonicTime) -> Bool { !isLooking && !(hasYielded && isOn(at: now)) }

    /// Notes that a topic holds something other than what this stack sent.
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

    /// Notes that another stack has just published a day.
    mutating func notice(_ topic: String, at now: MonotonicTime) {
        othersDays.insert(topic)
        (noticed, left) = (now, nil)
    }

    /// Notes what the broker had when we connected.
    /// - Parameter othersDay: the topic of a day of another stack.
    mutating func find(isOnline: Bool = false, othersDay: String? = nil, at now: MonotonicTime) {
        saysOnline = saysOnline || isOnline
        if let othersDay { othersDays.insert(othersDay) }
        guard saysOnline, !othersDays.isEmpty else { return }
        noticed = now
        if isLooking { hasYielded = true }
    }

    /// Somebody has just published whether a stack is online.
    mutating func hear(isOnline: Bool, at now: MonotonicTime) {
        if hasYielded {
            // We don't publish, so this is the other stack, or our last will, which the other one corrects.
            left = isOnline ? nil : left ?? now
        } else if !isOnline, isOn(at: now), begun.map({ now - $0 >= Self.absence }) ?? false {
            // Just after we have connected, this may be our last will, which arrives late.
            left = left ?? now
        }
    }

    /// Notes that somebody has emptied a topic. If no day of another stack remains, nothing shows that there is one.
    mutating func emptied(_ topic: String) {
        guard othersDays.remove(topic) != nil, othersDays.isEmpty, hasYielded else { return }
        (noticed, left) = (nil, nil)
    }

    /// Whether another stack uses our topics.
    func isOn(at now: MonotonicTime) -> Bool { end.map { now < $0 } ?? false }

    /// When another stack that stays silent counts as gone.
    var end: MonotonicTime? {
        guard let noticed else { return nil }
        let forgotten = noticed + Self.memory
        return left.map { min(forgotten, $0 + Self.absence) } ?? forgotten
    }
}

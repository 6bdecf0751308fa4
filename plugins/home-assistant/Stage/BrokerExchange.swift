import MQTT

/// What a session makes of its connections' events: what the stage hears, and which requests are done. Pure.
package struct BrokerExchange: Sendable {
    package enum Step: Sendable, Equatable {
        case subscribe(String)
        case report(BrokerNews)
        /// The broker has acknowledged all messages of the request with this id.
        case done(Int64)
        case ended(MQTTError)
    }

    /// Whether the broker has accepted the connection.
    package private(set) var isOpen = false
    /// What the broker retains is still arriving.
    package private(set) var look: RetainedLook?
    /// Whether the broker has been sent anything over this connection.
    package private(set) var hasPublished = false
    /// The requests of the messages not yet acknowledged, by the messages' numbers, and how many are left of each.
    private var unacknowledged: [Int32: Int64] = [:]
    private var left: [Int64: Int] = [:]
    private var pace = RetryPace()

    package init() {}

    /// Whether there is nothing to wait for.
    package var isQuiet: Bool { isOpen && look == nil && unacknowledged.isEmpty }

    /// Notes that a message of a request is on its way.
    package mutating func sent(_ number: Int32, of request: Int64) {
        unacknowledged[number] = request
        left[request, default: 0] += 1
        hasPublished = true
    }

    /// - Returns: what to do, in this order; nothing comes after the connection's end.
    package mutating func take(
        _ events: [MQTTConnection.Event], of topics: MQTTTopics, at now: ContinuousClock.Instant
    ) -> [Step] {
        var steps: [Step] = []
        var heard: [Heard] = []
        for event in events {
            switch event {
            case .connected:
                isOpen = true
                pace.opened(at: now)
                let filters = topics.own + [topics.birth]
                look = RetainedLook(filters: filters.count, at: now)
                steps += filters.map { .subscribe($0) } + [.report(.connected)]
            case .ended(let why): return steps + [.ended(why)]
            case .acknowledged(let number): if let request = acknowledge(number) { steps.append(.done(request)) }
            case .subscribed: look?.answered(at: now)
            case .message(let topic, let payload, let isRetained):
                if isRetained { look?.heard(at: now) }
                let text = String(decoding: payload, as: UTF8.self)
                if topic == topics.birth, topic != topics.status {
                    if !isRetained, text == "online" { steps.append(.report(.born)) }
                } else {
                    heard.append(Heard(topic: topic, payload: text, isRetained: isRetained))
                }
            }
        }
        if !heard.isEmpty { steps.append(.report(.heard(heard))) }
        if look?.isOver(at: now) == true {
            look = nil
            steps.append(.report(.looked))
        }
        return steps
    }

    /// - Returns: the request that this completes.
    private mutating func acknowledge(_ number: Int32) -> Int64? {
        guard let request = unacknowledged.removeValue(forKey: number), let count = left[request] else { return nil }
        left[request] = count > 1 ? count - 1 : nil
        return count == 1 ? request : nil
    }

    /// Notes that the connection is gone, and everything that was on its way with it.
    /// - Returns: how many seconds to wait before the next attempt.
    package mutating func lose(at now: ContinuousClock.Instant) -> Double {
        (isOpen, look, hasPublished) = (false, nil, false)
        (unacknowledged, left) = ([:], [:])
        return pace.wait(afterLossAt: now)
    }
}

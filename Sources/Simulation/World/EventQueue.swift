import HealthModel

/// Upcoming events in a simulation, by time; events at the same moment happen in the order in which they were added.
package struct EventQueue<Event> {
    /// A place in the queue. The event itself stays where it is, since moving it would cost more than comparing times.
    private struct Entry {
        var at: MonotonicTime
        var number: Int
        /// Where the event is in `events`.
        var slot: Int

        static func < (a: Entry, b: Entry) -> Bool { (a.at, a.number) < (b.at, b.number) }
    }

    private var heap: [Entry] = []
    private var events: [Event?] = []
    private var free: [Int] = []
    private var added = 0

    package init() {}

    package mutating func add(_ event: Event, at: MonotonicTime) {
        added += 1
        heap.append(Entry(at: at, number: added, slot: slot(for: event)))
        var child = heap.count - 1
        while child > 0, heap[child] < heap[(child - 1) / 2] {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    private mutating func slot(for event: Event) -> Int {
        if let slot = free.popLast() {
            events[slot] = event
            return slot
        }
        events.append(event)
        return events.count - 1
    }

    /// When the next event is due; nil when there is none.
    package var nextTime: MonotonicTime? { heap.first?.at }

    /// Takes the next event; nil when there is none.
    package mutating func next() -> (at: MonotonicTime, event: Event)? {
        guard let first = heap.first, let event = events[first.slot].take() else { return nil }
        free.append(first.slot)
        let last = heap.removeLast()
        if !heap.isEmpty {
            heap[0] = last
            siftDown()
        }
        return (first.at, event)
    }

    private mutating func siftDown() {
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && heap[child] < heap[least] {
                least = child
            }
            if least == parent { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}

import HealthModel

/// The observer: zone timelines that changed within the window.
package struct ZonesQuery: Query {
    package typealias Answer = ZonesPage
    package static let name = "zones"
}

extension Query where Self == ZonesQuery { package static var zones: Self { Self() } }

/// Zone timelines by user, in the form that `ZoneTimeline` encodes: those that changed in a window.
package struct ZonesPage: PageContent, Equatable {
    package var zones: [String: Value]
    package var from: SequenceNumber?
    package var through: SequenceNumber?

    package init(zones: [String: Value], from: SequenceNumber, through: SequenceNumber) {
        (self.zones, self.from, self.through) = (zones, from, through)
    }
}

import Foundation
import HealthModel
import SQLite

/// How much of its work an instance has committed, as seen from outside: the number of rows of some kind.
extension TestStack {
    func committed(by instance: String) -> Int {
        let query =
            switch instance {
            case "observer": "SELECT coalesce(sum(alive + deleted + quarantined), 0) FROM heads"
            case "backend": "SELECT coalesce(sum(alive), 0) FROM tallies"
            case "uploader": "SELECT coalesce(sum(count), 0) FROM deliveries"
            default: "SELECT count(*) FROM changes"
            }
        // A file or table that doesn't exist yet means no progress. The file is checked first, because this is called
        // very often, and each error thrown in a test run keeps its backtrace.
        guard FileManager.default.fileExists(atPath: "\(state)/\(instance)/state.sqlite") else { return 0 }
        return (try? number(instance, query)) ?? 0
    }

    /// The instance whose progress decides when to strike; instances that have no count of their own use another's.
    static func gauge(of instance: String) -> String {
        switch instance {
        case "hub", "supervisor": "uploader"
        case "debouncer": "observer"
        default: instance
        }
    }
}

/// A small generator whose numbers are the same everywhere (SplitMix64, Steele, Lea and Flood 2014).
struct Seeded: RandomNumberGenerator {
    private var state: UInt64
    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}

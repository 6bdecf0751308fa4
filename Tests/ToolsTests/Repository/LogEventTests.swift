import Foundation
import Logging
import StageKit
import Terminal
import Testing

@Suite struct LogEventTests {
    /// Every event that is logged is in the table, and every event in the table is logged.
    @Test func theTableHoldsEveryEventAndEachIsLogged() throws {
        let sources = try Checkout.sources()
        let table = try #require(sources.first { $0.path.hasSuffix("LogEvent+Table.swift") }).text
        let declared = table.matches(of: /static let (\w+) = LogEvent\(/).map { String($0.1) }
        #expect(declared.count == LogEvent.all.count && Set(LogEvent.all.map(\.name)).count == declared.count)
        let elsewhere = sources.filter { !$0.path.hasSuffix("LogEvent+Table.swift") }
        for source in elsewhere where !source.path.hasPrefix("Sources/Logging/") {
            #expect(!source.contains("LogEvent("), "\(source.path) makes an event of its own")
        }
        for name in declared {
            #expect(elsewhere.contains { $0.contains(".\(name)") }, "nobody logs \(name)")
        }
    }

    @Test func eventsAreNamedAndExplained() {
        for event in LogEvent.all {
            #expect(event.name.wholeMatch(of: /[a-z]+(\.[a-z-]+)?/) != nil, "\(event.name)")
            #expect(event.meaning.hasSuffix(".") && event.fields.allSatisfy { !$0.meaning.isEmpty }, "\(event.name)")
            #expect(Set(event.fields.map(\.name)).count == event.fields.count)
            if let failing = event.failureLevel { #expect(failing > event.level) }
        }
    }

    @Test func thePageListsThem() throws {
        try GeneratedTable(page: "docs/log-events.md", name: "events")
            .check(against: LogEvent.documentation(of: LogEvent.all))
    }

    /// A misspelt category must not silently log nothing.
    @Test func anUnknownCategoryIsRefused() {
        let failure = #expect(throws: Failure.self) {
            try StageLog.standard(
                "steps", file: "/nowhere", environment: ["HEALTHBUS_LOG_LEVEL": "info,obsever=debug"])
        }
        #expect(failure?.code == .usage && failure?.hint == "did you mean observer?")
    }
}

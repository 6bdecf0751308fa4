import Changelog
import Configuration
import Foundation
import HealthModel
import Inspection
import Monitoring
import Protocol
import TestSupport
import Testing

@Suite struct MetricsTests {
    private static let now = Instant(seconds: 1_790_000_000)
    private let stack: StackConfiguration

    init() throws {
        let catalog = try PluginCatalog(
            folder: Checkout.root.appending(path: "plugins").path, programs: "/nowhere")
        stack = try StackConfiguration(path: nil, catalog: catalog)
    }

    private func beat(
        _ instance: String, head: SequenceNumber? = nil, frontier: [String: SequenceNumber] = [:],
        busySince: Instant? = nil,
        _ details: [String: Value] = [:]
    ) -> (beat: Heartbeat, age: Double) {
        let beat = Heartbeat(
            instance: instance, plugin: instance, phase: .ready, pid: 1, epoch: 3,
            head: head.map { StoreHead(store: "s", generation: "g", sequence: $0) }, frontier: frontier,
            lastCommit: Self.now - .seconds(1), busySince: busySince, memory: 30_000_000,
            cpu: 7_000_000,
            started: Self.now - .seconds(3600), turns: .init(count: 12, busy: 2_500_000))
        return (details.isEmpty ? beat : beat.saying(details), 0.5)
    }

    /// Heartbeats that contain everything any instance reports.
    private var beats: Beats {
        let messages: Value = ["sent": 5, "received": 6, "dropped": 0, "malformed": 1, "foreign": 2]
        return [
            "hub": beat("hub", ["forwarded": 77]),
            "ingest": beat(
                "ingest", ["taken": 8, "refused": 3, "lastTaken": .integer((Self.now - .seconds(5)).microseconds)]),
            "observer": beat("observer", head: 1000, ["importOpen": true, "quarantined": 3, "messages": messages]),
            "debouncer": beat("debouncer", frontier: ["observer": 1000], ["pending": 2]),
            "steps": beat(
                "steps", head: 50, frontier: ["observer": 900], busySince: Self.now - .seconds(20),
                [
                    "pending": 4, "failedDays": 1, "lastSynced": .integer((Self.now - .seconds(60)).microseconds),
                    "lastChecked": .integer(Self.now.microseconds),
                ]),
            "consolidator": beat("consolidator", ["openDays": 2, "missing": ["steps"]]),
            "uploader": beat(
                "uploader", frontier: ["observer": 990],
                [
                    "deadLetters": 1, "conflicts": 2, "paused": false, "blocked": "no connection",
                    "path": ["satisfied": false, "interface": "wifi"],
                    "delivered": ["steps": 12, "sleep": 3, "daily": 4],
                    "lastDelivered": ["steps": .integer(Self.now.microseconds)],
                    "delayBuckets": [
                        "bounds": [1, 60], "metrics": ["steps": ["counts": [2, 3, 1], "sum": 100.5]],
                    ],
                ]),
            "supervisor": beat("supervisor", ["processes": [["name": "steps", "state": "ready", "restarts": 7]]]),
        ]
    }

    private func page(_ beats: Beats) -> PrometheusText {
        PrometheusText(
            StackMetrics.page(
                of: stack, beats,
                lastSamples: ["HKQuantityTypeIdentifierStepCount": Self.now - .seconds(100)], now: Self.now
            ).text)
    }

    @Test func thePageKeepsTheFormatAndItsConventions() throws {
        #expect(page(beats).problems == [])
        #expect(page([:]).problems == [])
    }

    @Test func whatIsSaidIsMeasured() {
        let page = page(beats)
        #expect(page.value("healthbus_instance_ready", ["instance": "steps", "plugin": "steps"]) == 1)
        #expect(page.value("healthbus_instance_ready", ["instance": "sleep"]) == 0)
        #expect(page.value("healthbus_instance_up", ["instance": "sleep"]) == 0)
        #expect(page.value("healthbus_lag_sequences", ["instance": "steps", "upstream": "observer"]) == 100)
        #expect(page.value("healthbus_consumed_sequence", ["instance": "uploader", "upstream": "observer"]) == 990)
        #expect(page.value("healthbus_instance_busy_seconds", ["instance": "steps"]) == 19.5)
        #expect(page.value("healthbus_instance_restarts_total", ["instance": "steps"]) == 7)
        #expect(page.value("healthbus_instance_turn_seconds_total", ["instance": "steps"]) == 2.5)
        #expect(page.value("healthbus_delivery_conflicts", ["instance": "uploader"]) == 2)
        #expect(page.value("healthbus_pending_days", ["instance": "steps"]) == 4)
        #expect(page.value("healthbus_pending_types", ["instance": "debouncer"]) == 2)
        #expect(page.value("healthbus_last_sample_timestamp_seconds", ["instance": "steps"]) == 1_789_999_900)
        #expect(page.value("healthbus_last_sync_timestamp_seconds", ["instance": "steps"]) == 1_789_999_940)
        #expect(page.value("healthbus_delivery_blocked", ["instance": "uploader"]) == 1)
        #expect(page.value("healthbus_delivery_paused", ["instance": "uploader"]) == 0)
        #expect(page.value("healthbus_network_path_satisfied", ["instance": "uploader"]) == 0)
        #expect(page.value("healthbus_delivered_elements_total", ["metric": "steps"]) == 12)
        #expect(page.value("healthbus_delivery_delay_seconds_bucket", ["metric": "steps", "le": "60"]) == 5)
        #expect(page.value("healthbus_delivery_delay_seconds_count", ["metric": "steps"]) == 6)
        // Without a 0 from before the first delivery after a start, a rate would leave that one out.
        #expect(page.value("healthbus_delivery_delay_seconds_bucket", ["metric": "sleep", "le": "60"]) == 0)
        #expect(page.value("healthbus_delivery_delay_seconds_count", ["metric": "sleep"]) == 0)
        #expect(page.value("healthbus_delivery_delay_seconds_count", ["metric": "daily"]) == nil)
        #expect(page.value("healthbus_build_info", ["version": ProgramRelease.current]) == 1)
        #expect(page.value("healthbus_import_open", [:]) == 1)
        #expect(page.value("healthbus_ingest_requests_taken_total", ["instance": "ingest"]) == 8)
        #expect(page.value("healthbus_ingest_requests_refused_total", ["instance": "ingest"]) == 3)
        #expect(page.value("healthbus_ingest_last_taken_timestamp_seconds", ["instance": "ingest"]) == 1_789_999_995)
    }

    /// If a metric in the table couldn't be derived from any heartbeat, it would never appear.
    @Test func everyMetricOfTheTableComesFromSomething() {
        var beats = beats
        let notifier = beat("notify", ["told": 1, "givenUp": 2])
        beats["notify"] = notifier
        let names = Set(page(beats).samples.map(\.name))
        // This stack has no notifier.
        let absent: Set = ["healthbus_notifications_total", "healthbus_notifications_failed_total"]
        for family in MetricFamily.all where !absent.contains(family.name) {
            #expect(names.contains(family.name) || names.contains(family.name + "_bucket"), "\(family.name)")
        }
    }

    @Test func whoIsntHeardIsntReady() {
        let late = (beat: beat("steps").beat, age: 28.0)
        let starting = (
            beat: Heartbeat(instance: "sleep", plugin: "sleep", phase: .running, pid: 1), age: 0.1
        )
        let readiness = Readiness(
            ["hub", "steps", "sleep", "energy"], ["hub": beat("hub"), "steps": late, "sleep": starting])
        #expect(!readiness.isReady)
        #expect(readiness.problem == "not ready: no response from steps, energy; sleep: running")
        #expect(Readiness(["steps"], [:]).problem == "not ready: no response from steps")
        #expect(Readiness(["steps", "sleep"], [:]).problem == "nothing in this stack responds")
        #expect(readiness.text == "ready: 1 of 4\nsteps: not heard for 28 s\nsleep: running\nenergy: not heard\n")
        #expect(Readiness(["hub"], ["hub": beat("hub")]).isReady)
    }

    @Test(arguments: [
        ("9464", "127.0.0.1:9464"), ("0.0.0.0:80", "0.0.0.0:80"), ("[::1]:0", "[::1]:0"), (":9464", "127.0.0.1:9464"),
        ("localhost:1", "localhost:1"),
    ])
    func endpointsAreRead(_ text: String, _ read: String) { #expect(Endpoint(text)?.description == read) }

    @Test(arguments: ["", "http", "::1:80", "1.2.3.4:", "1.2.3.4:65536", "host:-1", "80:x"])
    func whatIsNoEndpointIsRefused(_ text: String) { #expect(Endpoint(text) == nil) }

    @Test func thePageOfTheDocumentationListsThem() throws {
        try GeneratedTable(page: "docs/monitoring.md", name: "metrics").check(against: MetricFamily.documentation)
        let rules = try String(
            contentsOf: Checkout.root.appending(path: "grafana/prometheus/healthbus.rules.yml"),
            encoding: .utf8)
        let known = Set(MetricFamily.all.map(\.name))
        for match in rules.matches(of: #/healthbus_[a-z_]+/#) {
            let name = String(match.0)
            #expect(known.contains(name) || known.contains(name.replacing("_bucket", with: "")), "\(name)")
        }
    }
}

/// The test's own reader of the format notices mistakes.
@Suite struct PrometheusTextTests {
    @Test(arguments: [
        "# HELP a_total x\n# TYPE a_total counter\na_total 1", "# HELP a x\n# TYPE a counter\na 1\n",
        "# HELP a_total x\n# TYPE a_total gauge\na_total 1\n", "# TYPE a gauge\na 1\n",
        "# HELP a x\n# TYPE a gauge\na 1\na 2\n", "# HELP a x\n# TYPE a gauge\na{b=\"1} 1\n",
        "# HELP a x\n# TYPE a gauge\na one\n", "# HELP a_mb x\n# TYPE a_mb gauge\na_mb 1\n",
        "# HELP a x\n# TYPE a gauge\nb 1\n", "# HELP a x\n# TYPE a gauge\na{le=\"1\"} 1\n",
        "# HELP a x\n# TYPE a histogram\na_bucket{le=\"1\"} 1\na_sum 1\na_count 1\n",
        "# HELP a x\n# TYPE a histogram\na_bucket{le=\"1\"} 2\na_bucket{le=\"+Inf\"} 1\na_sum 1\na_count 1\n",
        "# HELP a x\n# TYPE a histogram\na_bucket{le=\"+Inf\"} 1\na_sum 1\na_count 2\n",
        "# HELP a x\n# TYPE a gauge\na 1\n# HELP b x\n# TYPE b gauge\nb 1\n# HELP a x\n# TYPE a gauge\na{c=\"1\"} 1\n",
    ])
    func whatIsWrongIsFound(_ page: String) { #expect(!PrometheusText(page).problems.isEmpty) }

    @Test func whatIsRightIsnt() {
        let page = """
            # HELP a_seconds x "y" \\ z
            # TYPE a_seconds histogram
            a_seconds_bucket{b="c\\"d\\\\",le="0.5"} 1
            a_seconds_bucket{b="c\\"d\\\\",le="+Inf"} 2
            a_seconds_sum{b="c\\"d\\\\"} 1.5
            a_seconds_count{b="c\\"d\\\\"} 2

            """
        #expect(PrometheusText(page).problems == [])
    }
}

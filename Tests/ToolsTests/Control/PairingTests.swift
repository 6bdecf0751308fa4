import Configuration
import Control
import Foundation
import HealthModel
import HealthPush
import Inspection
import Logging
import Terminal
import TestSupport
import Testing

/// What is shown to a person pairing a phone.
@Suite struct PairingTests {
    private let now: Instant = 1_795_000_000_000_000
    private var list = TokenList()

    private mutating func sheet(
        _ address: PairingAddress, _ wish: TokenWish = TokenWish(), for app: String = "health-auto-export"
    ) throws -> (sheet: PairingSheet, secret: TokenSecret, entry: TokenEntry) {
        var generator = SystemRandomNumberGenerator()
        let secret = TokenSecret.make(using: &generator)
        let entry = try list.add(wish, secret, now: now, using: &generator)
        let app = try #require(WayIn.apps.first { $0.name == app })
        return (PairingSheet(app, address, secret, entry), secret, entry)
    }

    @Test(arguments: [
        ("https://health.example.org", "https://health.example.org", true),
        ("https://example.org:8443/health/", "https://example.org:8443/health", true),
        ("http://192.168.1.5:8788", "http://192.168.1.5:8788", true),
        ("http://[::1]:8788", "http://[::1]:8788", false), ("http://localhost:8788", "http://localhost:8788", false),
    ])
    func anAddressIsTakenAsItIsGiven(text: String, url: String, isReachable: Bool) throws {
        let address = try PairingAddress(text)
        #expect(address.url == url && address.isReachable == isReachable)
        #expect(address.remarks.isEmpty == text.hasPrefix("https"))
    }

    @Test(arguments: [
        "", "health.example.org", "ftp://health.example.org", "https://", "https://me:secret@health.example.org",
        "https://health.example.org?a=b", "https://health.example.org#a",
    ])
    func whatIsNoAddressIsRefused(text: String) throws {
        let error = try #require(throws: Failure.self) { try PairingAddress(text) }
        #expect(error.code == .usage && error.hint?.contains("https://health.example.org") == true)
        #expect(!error.message.contains("secret"))
    }

    @Test func whereTheStackListensIsSaidAsAPhoneReachesIt() {
        let loopback = PairingAddress(Endpoint(port: 8788), machine: ["192.168.1.5"])
        #expect(loopback.url == "http://127.0.0.1:8788" && !loopback.isReachable)
        #expect(
            loopback.remarks.joined().contains("--address")
                && loopback.remarks.joined().contains("\"host\"") && loopback.remarks.joined().contains("proxy"))
        let everywhere = PairingAddress(Endpoint(host: "0.0.0.0", port: 9000), machine: ["192.168.1.5", "10.0.0.2"])
        #expect(everywhere.url == "http://192.168.1.5:9000" && everywhere.isReachable)
        #expect(everywhere.remarks.contains { $0.contains("isn't encrypted") })
        #expect(everywhere.remarks.contains { $0.contains("http://10.0.0.2:9000") })
        #expect(!PairingAddress(Endpoint(host: "::", port: 9000), machine: []).isReachable)
        let sealed = PairingAddress(Endpoint(host: "0.0.0.0", port: 443), isTLS: true, machine: ["192.168.1.5"])
        #expect(sealed.url == "https://192.168.1.5:443" && sealed.isReachable)
        #expect(sealed.remarks.count == 1 && sealed.remarks[0].contains("--address https://its.name"))
        let one = PairingAddress(Endpoint(host: "fd00::5", port: 9000), machine: ["192.168.1.5"])
        #expect(one.url == "http://[fd00::5]:9000" && one.isReachable && one.others == [])
    }

    @Test func theLinksSetTheAppAsTheStepsSay() throws {
        let app = AutoExportPairing(
            PairedPhone(address: "https://health.example.org/a&b", id: "k3m9x2ab", token: "hbt_-_x"))
        for automation in AutoExportPairing.Automation.allCases {
            let parts = try #require(URLComponents(string: app.link(automation)))
            #expect(parts.scheme == "com.HealthExport" && parts.host == "automation")
            let items = Dictionary(
                uniqueKeysWithValues: (parts.queryItems ?? []).map { ($0.name, $0.value ?? "") })
            #expect(items["url"] == "https://health.example.org/a&b/v1/health-auto-export")
            #expect(items["headers"] == "Authorization,Bearer hbt_-_x")
            #expect(items["format"] == "json" && items["exportversion"] == "v2" && items["enabled"] == "true")
            #expect(items["datatype"] == (automation == .metrics ? "healthMetrics" : "workouts"))
            #expect(items["aggregatedata"] == (automation == .metrics ? "false" : nil))
            // The code fits in a terminal with 80 columns.
            #expect(app.link(automation).utf8.count <= 367)
        }
    }

    @Test mutating func theSheetHasAllThatAPhoneNeeds() throws {
        let made = try sheet(try PairingAddress("https://health.example.org"), TokenWish(user: "anna", device: "watch"))
        let text = made.sheet.text { _ in nil }
        for part in [
            "https://health.example.org/v1/health-auto-export", "Bearer \(made.secret.text)", "Summarize Data",
            "Export Version", "Data Type                Workouts", made.entry.id, "anna", "watch",
            "com.HealthExport://automation", "'healthbus imports' says whether sums came instead of samples",
        ] { #expect(text.contains(part), "\(part)\n\(text)") }
        let coded = made.sheet.text { "<\($0.contains("workouts") ? "W" : "M")>" }
        #expect(coded.contains("<M>") && coded.contains("<W>") && !coded.contains("com.HealthExport"))
        let value = made.sheet.value
        #expect(value["token"].string == made.secret.text && value["id"].string == made.entry.id)
        #expect(value["address"] == "https://health.example.org" && value["reachable"] == true)
        #expect(value["user"] == "anna" && value["device"] == "watch" && value["scope"] == "ingest")
        #expect(value["healthAutoExport"]["url"] == "https://health.example.org/v1/health-auto-export")
        #expect(value["healthAutoExport"]["links"]["workouts"].string?.contains("datatype=workouts") == true)
    }

    @Test mutating func anAppWithACodeGetsNoToken() throws {
        var generator = SystemRandomNumberGenerator()
        let code = TokenSecret.makeCode(using: &generator)
        let entry = try list.add(TokenWish(user: "anna", isInvited: true), code, now: now, using: &generator)
        let app = try #require(WayIn.apps.first { $0.name == "open-wearables" })
        let sheet = PairingSheet(app, try PairingAddress("https://health.example.org"), code, entry)
        #expect(app.isInvited && app.proof == .bearer)
        let text = sheet.text { _ in nil }
        for part in ["code     \(code.text)", "seven days", "API URL          https://health.example.org", "anna"] {
            #expect(text.contains(part), "\(part)\n\(text)")
        }
        #expect(sheet.value["token"].isNull && sheet.value["openWearables"]["code"].string == code.text)
        #expect(sheet.value["openWearables"]["host"] == "https://health.example.org")
        #expect(sheet.value["ends"].string == InstantText.iso8601(now + .seconds(7 * 86_400)))
    }

    @Test mutating func theSheetOfAShortcutSaysWhatToTap() throws {
        let made = try sheet(try PairingAddress("https://health.example.org/h"), for: "shortcut")
        let text = made.sheet.text { _ in nil }
        for part in [
            "https://health.example.org/h/v1/lines", "Bearer \(made.secret.text)", "Find Health Samples", "Steps",
            "Heart Rate", "Sleep", "[Start Date];[End Date];[Value];[Unit];[Source]", "ISO 8601", "POST", "text/plain",
            "Get Contents of URL", "Time of Day", "'healthbus samples --type StepCount'", made.entry.id,
        ] { #expect(text.contains(part), "\(part)\n\(text)") }
        #expect(!text.contains("shortcuts://"))
        let value = made.sheet.value["shortcut"]
        #expect(value["url"] == "https://health.example.org/h/v1/lines")
        #expect(value["header"].string == "Authorization: Bearer \(made.secret.text)")
    }

    /// A code with plain text would be offered to a search engine.
    @Test mutating func theCodesOfAShortcutOpenItsApp() throws {
        let made = try sheet(try PairingAddress("https://health.example.org"), for: "shortcut")
        let text = made.sheet.text { "<\($0)>\n" }
        let links = text.split(separator: "\n").filter { $0.hasPrefix("<") }.map { String($0.dropFirst().dropLast()) }
        let inputs = try links.map { link in
            let parts = try #require(URLComponents(string: link))
            #expect(parts.scheme == "shortcuts" && parts.host == "run-shortcut" && link.utf8.count <= 367)
            let items = Dictionary(uniqueKeysWithValues: (parts.queryItems ?? []).map { ($0.name, $0.value ?? "") })
            #expect(items["name"] == "healthbus code" && items["input"] == "text")
            return items["text"] ?? ""
        }
        #expect(inputs == ["https://health.example.org/v1/lines", "Bearer \(made.secret.text)"])
        #expect(text.contains("\"healthbus code\"") && text.contains("Copy to Clipboard"))
    }

    @Test mutating func theListSaysWhatEachTokenIsAndNoSecret() throws {
        let address = try PairingAddress("https://health.example.org")
        let phone = try sheet(address)
        let short = try sheet(address, TokenWish(device: "short", scope: .read, ends: now + .seconds(60)))
        let lost = try sheet(address, TokenWish(device: "lost"))
        _ = try list.revoke("lost", now: now)
        let report = TokenReport(list, now: now + .seconds(61))
        let table = report.table(for: Terminal(isTerminal: false))
        let lines = table.split(separator: "\n")
        #expect(lines.count == 4)
        #expect(lines[1].contains("\(phone.entry.id)  me") && lines[1].hasSuffix("never"))
        #expect(lines[2].contains("read") && lines[2].contains("  ended 2026-"), "\(table)")
        #expect(lines[3].contains("  revoked 2026-"), "\(table)")
        let tokens = report.value["tokens"].array ?? []
        #expect(tokens.map { $0["state"] } == ["valid", "ended", "revoked"])
        #expect(tokens.map { $0["id"].string } == [phone, short, lost].map(\.entry.id))
        #expect(tokens[0]["ends"].isNull && tokens[1]["ends"].string != nil)
        for made in [phone, short, lost] {
            for said in [table, report.value.json()] {
                #expect(!said.contains(made.secret.text) && !said.contains("\(made.secret.digest)"))
            }
        }
    }
}

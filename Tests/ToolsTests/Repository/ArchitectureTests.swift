import Foundation
import HealthModel
import Testing

/// Checks the sources against the map of `docs/architecture.md` and against `Package.swift`.
@Suite struct ArchitectureTests {
    struct Target {
        var name: String
        var folder: String
        var declared: Set<String>
        var imports: Set<String> = []
    }

    /// Read once for all tests.
    private static let read = Result { (targets: try declaredTargets(), layers: try documentedLayers()) }

    let targets: [Target]
    /// The layers by module; the stage and program of a plugin have the layer of `plugins/<name>`.
    private let layers: [String: Int]

    init() throws { (targets, layers) = try Self.read.get() }

    private static func declaredTargets() throws -> [Target] {
        let package = try Checkout.text("Package.swift")
        let list = #/\[[^\]]*\]/#
        var targets: [Target] = []
        func names(_ text: Substring) -> Set<String> { Set(text.matches(of: #/"(\w+)"/#).map { String($0.1) }) }
        for found in package.matches(
            of: try Regex(
                #"\b(?:library|tool)\(\s*"(\w+)",\s*(\[[^\]]*\])"#, as: (Substring, Substring, Substring).self))
        {
            targets.append(Target(name: String(found.1), folder: "Sources/\(found.1)", declared: names(found.2)))
        }
        let handler = try #require(package.firstMatch(of: #/let handlerDependencies[^=]*= (\[[^\]]*\])/#)).1
        let plugins = try Regex(
            #"\bplugin\(\s*"([\w-]+)",\s*"(\w+)",\s*(\[[^\]]*\]|handlerDependencies)(?:,\s*main:\s*(\[[^\]]*\]))?"#,
            as: (Substring, Substring, Substring, Substring, Substring?).self)
        for found in package.matches(of: plugins) {
            let stage = found.3.wholeMatch(of: list) == nil ? names(handler) : names(found.3)
            targets.append(Target(name: String(found.2), folder: "plugins/\(found.1)/Stage", declared: stage))
            if let main = found.4 {
                targets.append(
                    Target(
                        name: "healthbus-\(found.1)", folder: "plugins/\(found.1)/Main",
                        declared: names(main).union([String(found.2)])))
            }
        }
        for found in package.matches(
            of: try Regex(
                #"\bpart\(\s*"([\w-]+/\w+)",\s*"(\w+)",\s*(\[[^\]]*\])"#,
                as: (Substring, Substring, Substring, Substring).self))
        {
            targets.append(Target(name: String(found.2), folder: "plugins/\(found.1)", declared: names(found.3)))
        }
        for (name, folder) in [("healthbus", "healthbus"), ("healthbus-stages", "Stages")] {
            let declaration = try Regex(
                #"name: "\#(name)",\s*dependencies: (\[[^\]]*\])"#, as: (Substring, Substring).self)
            let declared = try #require(package.firstMatch(of: declaration)).1
            targets.append(Target(name: name, folder: "Sources/\(folder)", declared: names(declared)))
        }
        let own = Set(targets.map(\.name)).union(package.matches(of: #/"(C[A-Z]\w+)"/#).map { String($0.1) })
        for index in targets.indices {
            targets[index].imports = Set(
                try Checkout.sources(in: targets[index].folder).flatMap { $0.lines(with: "import ") }
                    .filter { $0.hasPrefix("import ") }.map { String($0.dropFirst("import ".count)) }
            ).intersection(own)
        }
        return targets
    }

    private static func documentedLayers() throws -> [String: Int] {
        var layers: [String: Int] = [:]
        for row in try Checkout.text("docs/architecture.md").matches(of: #/(?m)^\| (`[^|]*) \| (\d+) \|/#) {
            for name in row.1.matches(of: #/`([^`]+)`/#) { layers[String(name.1)] = Int(row.2) }
        }
        return layers
    }

    private func layer(of target: Target) -> Int? {
        guard target.folder.hasPrefix("plugins/") else { return layers[target.name] }
        let part = target.folder.split(separator: "/").last ?? ""
        return layers["plugins/<name>/\(part)"] ?? layers["plugins/<name>"]
    }

    @Test func everyModuleHasItsPlace() throws {
        #expect(targets.count > 40, "\(targets.map(\.name))")
        for target in targets { #expect(layer(of: target) != nil, "docs/architecture.md lacks \(target.name)") }
        let known = Set(targets.map(\.name)).union([
            "plugins/<name>", "plugins/<name>/Reading", "plugins/<name>/Dialogue",
        ])
        for name in layers.keys where !name.hasPrefix("C") || known.contains(name) {
            #expect(known.contains(name), "docs/architecture.md names \(name), which Package.swift doesn't")
        }
    }

    /// Each step of a sample's path names a file, and in it a function or type; a file without a folder is in that of the
    /// last one with a folder.
    @Test func thePathOfASampleExists() throws {
        let page = try Checkout.text("docs/architecture.md")
        let path = try #require(page.firstMatch(of: #/(?s)\*\*The path of a sample\*\*.*?\n\n- /#)).0
        let steps = path.matches(of: #/`([\w\/+-]+\.swift)`\s+\(`(\w+)`\)/#)
        #expect(steps.count > 15 && path.matches(of: #/\.swift`/#).count == steps.count)
        var folder = ""
        for step in steps {
            if let root = step.1.wholeMatch(of: #/((?:Sources|plugins)\/.*)\/[^\/]+/#) { folder = String(root.1) }
            let file = step.1.hasPrefix(folder) ? String(step.1) : "\(folder)/\(step.1)"
            let declared = try Checkout.text(file).matches(of: #/\b(?:func|struct|enum|class) (\w+)/#).map {
                String($0.1)
            }
            #expect(declared.contains(String(step.2)), "docs/architecture.md: \(file) declares no \(step.2)")
        }
    }

    /// The types that the page names exist.
    @Test func namedTypesExist() throws {
        let page = try Checkout.text("docs/architecture.md")
        var declared: Set<String> = ["Duration", "ArchitectureTests"]
        let declaration = #/\b(?:struct|enum|class|protocol) (\w+)/#
        for keyword in ["struct ", "enum ", "class ", "protocol "] {
            for line in try Checkout.sources().flatMap({ $0.lines(with: keyword) }) {
                declared.formUnion(line.matches(of: declaration).map { String($0.1) })
            }
        }
        let prose = page.replacing(#/(?m)^\|.*$/#, with: "")
        let named = prose.matches(of: #/`([A-Z][a-z]\w+)`/#).map { String($0.1) }
        #expect(named.count > 5)
        let modules = Set(targets.map(\.name))
        for name in named {
            #expect(declared.contains(name) || modules.contains(name), "docs/architecture.md: \(name)")
        }
    }

    /// The compiler checks concurrency strictly, and no module can turn that off.
    @Test func concurrencyIsChecked() throws {
        let package = try Checkout.text("Package.swift")
        let version = try #require(package.firstMatch(of: #/^\/\/ swift-tools-version: (\d+)/#)).1
        #expect(Int(version) ?? 0 >= 6)
        #expect(package.contains(".treatAllWarnings(as: .error)"))
        for loosened in ["swiftLanguageMode", ".treatWarning(", "strict-concurrency"] {
            #expect(!package.contains(loosened), "Package.swift: \(loosened)")
        }
    }

    @Test func importsRunDown() throws {
        let stages = Set(targets.filter { $0.folder.hasSuffix("/Stage") }.map(\.name))
        let layers = Dictionary(
            uniqueKeysWithValues: targets.compactMap { target in
                layer(of: target).map { (target.name, $0) }
            }
        ).merging(self.layers) { own, _ in own }
        for target in targets {
            let own = try #require(layer(of: target), "\(target.name)")
            for module in target.imports {
                // The program of a plugin is built on its stage.
                if target.folder.hasSuffix("/Main"), stages.contains(module) { continue }
                let other = try #require(layers[module], "\(module)")
                #expect(other < own, "\(target.name) imports \(module), which isn't below it")
            }
        }
    }

    @Test func whatIsImportedIsDeclaredAndNothingElse() {
        for target in targets {
            #expect(
                target.imports == target.declared,
                "\(target.name): undeclared \(target.imports.subtracting(target.declared)), unused \(target.declared.subtracting(target.imports))"
            )
        }
    }

    /// The tools either read a stopped instance with the code that the owner of its tables provides, or ask it through
    /// its own program.
    private static let tools = [
        "Inspection", "Figures", "Monitoring", "Assistant", "Doctor", "Control", "Conformance", "healthbus",
    ]

    @Test func noToolImportsAStage() throws {
        for name in Self.tools {
            let target = try #require(targets.first { $0.name == name })
            #expect(target.imports.filter { $0.hasSuffix("Stage") } == [], "\(name)")
        }
    }

    /// A stage works without a person who looks on: it says what it does in its log and its heartbeat.
    @Test func noStageWritesToTheScreen() throws {
        let stages = targets.filter { $0.folder.hasPrefix("plugins/") && $0.folder.hasSuffix("/Stage") }
        #expect(stages.count > 15)
        for stage in stages {
            #expect(!stage.imports.contains("Terminal"), "\(stage.name)")
            for source in try Checkout.sources(in: stage.folder) {
                #expect(!source.lines(with: "print(").contains { $0.contains(#/\bprint\(/#) }, "\(source.name)")
            }
        }
    }

    /// What could end a process at a nil or an error doesn't pass the check that each change must pass.
    @Test func forcingIsRefused() throws {
        let rules = try Value(json: Array(Checkout.text(".swift-format").utf8))["rules"]
        #expect(rules["NeverForceUnwrap"] == true && rules["NeverUseForceTry"] == true)
        let others = try #require(Checkout.text("Makefile").split(separator: "\n").first { $0.hasPrefix("OTHERS := ") })
        #expect(others.split(separator: " ").contains("check-format"))
        #expect(try Checkout.text(".ci/run").contains(#/\nmake [^\n]*test-others\n/#))
        #expect(try Checkout.text("Makefile").contains("format lint --strict"))
    }

    /// A file has one writer, on one thread. Tools open the file of a running process to read it only.
    @Test func onlyTheseOpenAFileToWrite() throws {
        let writers: Set = [
            "Database+Kept.swift", "StackReader.swift", "Stack.swift",  // of stopped processes, under their lock
            "PluginProgram.swift", "StageDatabase.swift",  // a process its own
            "RestoredStore.swift",  // a copy that isn't in its place yet, and the one that it replaces
            "SQLiteStorage.swift", "SimulatedHost.swift",
        ]
        var found: Set<String> = []
        let opening = #/(?:\b(?:Stage)?Database\(\s*path:|\.kept\(at:)[^()]*(?:\([^()]*\)[^()]*)*\)/#
        for source in try Checkout.sources() where source.contains("Database(") || source.contains(".kept(at:") {
            if source.text.matches(of: opening).contains(where: { !$0.0.contains("mode: .readOnly") }) {
                found.insert(source.name)
            }
        }
        #expect(found == writers)
    }

    /// What one thread hands to another is a value that the compiler has checked; a few connections are created on one
    /// thread and used on another, or are locked. What reads and writes rows stays where it is.
    @Test func onlyTheseCrossThreadsUnchecked() throws {
        let unchecked: Set = [
            "Database", "HTTPClient",  // created on one thread, and handed to their owner
            "ZeroMQContext", "Mailbox", "SendQueue", "ReadAhead", "Cache",  // thread-safe, or locked
            "Daemon", "Connection", "Credentials",  // handles of C libraries that are
        ]
        let bound: Set = ["StageDatabase", "KeyedChangelog", "Turn", "HealthStoreReader", "HealthStoreWriter"]
        var (found, declared) = (Set<String>(), Set<String>())
        let crossing = #/(?:class|struct|extension) (\w+)(?:<[^>]*>)?[^{\n]*@unchecked Sendable/#
        let declaring = #/(?:class|struct|extension) (\w+)(?: *: *([^{\n]*))? \{/#
        for source in try Checkout.sources() {
            for line in source.lines(with: "@unchecked Sendable") {
                if let match = line.firstMatch(of: crossing) { found.insert(String(match.1)) }
            }
            for line in bound.flatMap({ source.lines(with: " \($0)") }) {
                guard let match = line.firstMatch(of: declaring), bound.contains(String(match.1)) else { continue }
                declared.insert(String(match.1))
                #expect(match.2?.contains("Sendable") != true, "\(match.1)")
            }
        }
        #expect(found == unchecked && declared == bound, "\(found), \(declared)")
    }

    /// Only the owner of a table knows its columns.
    @Test func noToolSpeaksSQL() throws {
        let statement = #/["\n]\s*(SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|PRAGMA|WITH|BEGIN) /#
        for name in Self.tools {
            for source in try Checkout.sources(in: try #require(targets.first { $0.name == name }).folder) {
                #expect(source.text.firstMatch(of: statement) == nil, "\(source.name)")
            }
        }
    }

    /// Handlers are what most people write. They need only the public parts of the model and its statistics, and can
    /// use nothing else.
    @Test func handlersImportTheModelOnly() throws {
        let package = try Checkout.text("Package.swift")
        let list = try #require(package.firstMatch(of: #/(?s)let handlers = \[.*?\n\]/#)).0
        let names = list.matches(of: #/plugin\("([\w-]+)", "\w+", handlerDependencies, packageAccess: false\)/#).map {
            String($0.1)
        }
        #expect(names.contains("steps") && names.contains("generic"))
        for name in names {
            let stage = targets.first { $0.folder == "plugins/\(name)/Stage" }
            #expect(stage?.imports.subtracting(["HealthModel", "HealthStatistics"]) == [], "\(name)")
        }
    }

    /// Public declarations are the interface for authors of handlers, so there are few of them, and each is documented.
    @Test func whatIsPublicIsSaid() throws {
        var all = 0
        // Members that fulfil a requirement of a protocol are documented in the protocol.
        let required = #/Literal|from decoder|to encoder|func <|func ==|hash\(into|var description|rawValue/#
        let declaration = #/^\s*(@\w+ )?public /#
        for source in try Checkout.sources() where source.contains("public ") {
            for (index, line) in source.lines.enumerated()
            where Source.has(String(line), "public ") && line.contains(declaration) {
                all += 1
                guard source.path.hasPrefix("Sources/"), !line.contains(required) else { continue }
                #expect(index > 0 && source.lines[index - 1].contains("///"), "\(source.name):\(index + 1)")
            }
        }
        #expect((100...900).contains(all), "\(all)")
    }

    /// A stage bases its decisions on the times that it is given; the servers of the hub, the ingest and the dashboard
    /// aren't stages.
    @Test func stagesReadNoClock() {
        for target in targets where target.folder.hasPrefix("plugins/") && target.folder.hasSuffix("/Stage") {
            let isServer = ["DashboardStage", "HubStage", "IngestStage"].contains(target.name)
            #expect(isServer || !target.imports.contains("Clocks"), "\(target.name)")
        }
    }
}

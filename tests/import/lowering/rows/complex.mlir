// Rows of complex, in bodies of linalg and on tensors.
// Written by cases_rows.py.

func.func @functions_0(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) attributes {
    test.in = [dense<[1.0126241445541382, 1.3663779497146606, 1.2083914279937744, 0.49276936054229736]> : tensor<4xf32>, dense<[-0.4796009063720703, 0.8965282440185547, -1.1873632669448853, 0.7709482312202454]> : tensor<4xf32>],
    test.out = [dense<[0.5330232381820679, 2.262906074523926, 0.02102816104888916, 1.2637176513671875]> : tensor<4xf32>, dense<[0.0, 0.0, 0.0, 0.0]> : tensor<4xf32>, dense<[1.4922250509262085, 0.46984970569610596, 2.395754814147949, -0.278178870677948]> : tensor<4xf32>, dense<[-0.9592018127441406, 1.7930564880371094, -2.3747265338897705, 1.5418964624404907]> : tensor<4xf32>, dense<[-0.2556384205818176, 2.028759241104126, -0.024968069046735764, 0.9742608666419983]> : tensor<4xf32>, dense<[0.715672492980957, -0.42123350501060486, 2.8446311950683594, 0.2144615203142166]> : tensor<4xf32>, dense<[-1.555694580078125, 0.2620384097099304, -1.0088549852371216, -0.18041346967220306]> : tensor<4xf32>, dense<[-0.555694580078125, 1.2620383501052856, -0.008854982443153858, 0.8195866346359253]> : tensor<4xf32>, dense<[1.129301905632019, 2.6057660579681396, 0.030564092099666595, 1.347968578338623]> : tensor<4xf32>, dense<[0.3085192143917084, 0.20952509343624115, 1.3443877696990967, 1.50701105594635]> : tensor<4xf32>, dense<[1.0126241445541382, 1.3663779497146606, 1.2083914279937744, 0.49276936054229736]> : tensor<4xf32>, dense<[0.4796009063720703, -0.8965282440185547, 1.1873632669448853, -0.7709482312202454]> : tensor<4xf32>, dense<[0.5917259454727173, 0.29019153118133545, 0.6352093815803528, 1.1560778617858887]> : tensor<4xf32>, dense<[0.422585129737854, -1.000278115272522, 1.3901346921920776, -0.4019278883934021]> : tensor<4xf32>, dense<[2.4422402381896973, 2.4480578899383545, 1.2525438070297241, 1.1740260124206543]> : tensor<4xf32>, dense<[-1.2702182531356812, 3.063040256500244, -3.1049752235412598, 1.140577793121338]> : tensor<4xf32>, dense<[1.4422402381896973, 1.448057770729065, 0.25254374742507935, 0.1740260124206543]> : tensor<4xf32>, dense<[-1.2702182531356812, 3.063040256500244, -3.1049752235412598, 1.140577793121338]> : tensor<4xf32>, dense<[0.11373696476221085, 0.4911799430847168, 0.5271632671356201, -0.08885640650987625]> : tensor<4xf32>, dense<[-0.4423232972621918, 0.5806758999824524, -0.7766211628913879, 1.0020699501037598]> : tensor<4xf32>, dense<[1.120457410812378, 1.634243369102478, 1.6941196918487549, 0.9149770140647888]> : tensor<4xf32>, dense<[-0.44232332706451416, 0.5806758403778076, -0.7766211032867432, 1.0020700693130493]> : tensor<4xf32>],
    test.tolerance = 0.000010
} {
  %e = tensor.empty() : tensor<4xf32>
  %0:22 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a, %b : tensor<4xf32>, tensor<4xf32>) outs(%e, %e, %e, %e, %e, %e, %e, %e, %e, %e, %e, %e, %e, %e, %e, %e, %e, %e, %e, %e, %e, %e : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%x: f32, %y: f32, %o0: f32, %o1: f32, %o2: f32, %o3: f32, %o4: f32, %o5: f32, %o6: f32, %o7: f32, %o8: f32, %o9: f32, %o10: f32, %o11: f32, %o12: f32, %o13: f32, %o14: f32, %o15: f32, %o16: f32, %o17: f32, %o18: f32, %o19: f32, %o20: f32, %o21: f32):
    %z = complex.create %x, %y : complex<f32>
    %n = arith.negf %y : f32
    %w = complex.create %y, %n : complex<f32>
    %add = complex.add %z, %w : complex<f32>
    %add_re = complex.re %add : complex<f32>
    %add_im = complex.im %add : complex<f32>
    %sub = complex.sub %z, %w : complex<f32>
    %sub_re = complex.re %sub : complex<f32>
    %sub_im = complex.im %sub : complex<f32>
    %mul = complex.mul %z, %w : complex<f32>
    %mul_re = complex.re %mul : complex<f32>
    %mul_im = complex.im %mul : complex<f32>
    %div = complex.div %z, %w : complex<f32>
    %div_re = complex.re %div : complex<f32>
    %div_im = complex.im %div : complex<f32>
    %pow = complex.pow %z, %w : complex<f32>
    %pow_re = complex.re %pow : complex<f32>
    %pow_im = complex.im %pow : complex<f32>
    %conj = complex.conj %z : complex<f32>
    %conj_re = complex.re %conj : complex<f32>
    %conj_im = complex.im %conj : complex<f32>
    %cos = complex.cos %z : complex<f32>
    %cos_re = complex.re %cos : complex<f32>
    %cos_im = complex.im %cos : complex<f32>
    %exp = complex.exp %z : complex<f32>
    %exp_re = complex.re %exp : complex<f32>
    %exp_im = complex.im %exp : complex<f32>
    %expm1 = complex.expm1 %z : complex<f32>
    %expm1_re = complex.re %expm1 : complex<f32>
    %expm1_im = complex.im %expm1 : complex<f32>
    %log = complex.log %z : complex<f32>
    %log_re = complex.re %log : complex<f32>
    %log_im = complex.im %log : complex<f32>
    %abs = complex.abs %z : complex<f32>
    %angle = complex.angle %z : complex<f32>
    linalg.yield %add_re, %add_im, %sub_re, %sub_im, %mul_re, %mul_im, %div_re, %div_im, %pow_re, %pow_im, %conj_re, %conj_im, %cos_re, %cos_im, %exp_re, %exp_im, %expm1_re, %expm1_im, %log_re, %log_im, %abs, %angle : f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32
  } -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return %0#0, %0#1, %0#2, %0#3, %0#4, %0#5, %0#6, %0#7, %0#8, %0#9, %0#10, %0#11, %0#12, %0#13, %0#14, %0#15, %0#16, %0#17, %0#18, %0#19, %0#20, %0#21 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

func.func @functions_1(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) attributes {
    test.in = [dense<[1.0126241445541382, 1.3663779497146606, 1.2083914279937744, 0.49276936054229736]> : tensor<4xf32>, dense<[-0.4796009063720703, 0.8965282440185547, -1.1873632669448853, 0.7709482312202454]> : tensor<4xf32>],
    test.out = [dense<[0.7270551323890686, 0.9284229278564453, 0.9192280173301697, 0.5188507437705994]> : tensor<4xf32>, dense<[-0.2339334487915039, 0.3621513247489929, -0.4933196008205414, 0.476724773645401]> : tensor<4xf32>, dense<[-1.0126241445541382, -1.3663779497146606, -1.2083914279937744, -0.49276936054229736]> : tensor<4xf32>, dense<[0.4796009063720703, -0.8965282440185547, 1.1873632669448853, -0.7709482312202454]> : tensor<4xf32>, dense<[0.9217080473899841, 0.7495038509368896, 0.71109539270401, 0.9169318675994873]> : tensor<4xf32>, dense<[0.20723633468151093, -0.22393745183944702, 0.29089590907096863, -0.502155065536499]> : tensor<4xf32>, dense<[0.9037595987319946, 0.8360921144485474, 0.7132857441902161, 0.5385592579841614]> : tensor<4xf32>, dense<[-0.4280402958393097, 0.5485891699790955, -0.7008733153343201, 0.8425875306129456]> : tensor<4xf32>, dense<[0.9476618766784668, 1.399767279624939, 1.675346851348877, 0.6207568049430847]> : tensor<4xf32>, dense<[-0.26386478543281555, 0.207371786236763, -0.527070939540863, 0.7485378384590149]> : tensor<4xf32>, dense<[1.0327346324920654, 1.2248716354370117, 1.2046806812286377, 0.8389714956283569]> : tensor<4xf32>, dense<[-0.23219949007034302, 0.365968257188797, -0.49281245470046997, 0.4594603180885315]> : tensor<4xf32>, dense<[0.8496986031532288, 0.1832384467124939, 0.14190985262393951, 0.27821606397628784]> : tensor<4xf32>, dense<[-1.0527420043945312, 1.3462185859680176, -1.140324354171753, 0.7442064881324768]> : tensor<4xf32>, dense<[0.8405711054801941, 1.0207202434539795, 1.127983570098877, 0.7414166927337646]> : tensor<4xf32>, dense<[-0.18485116958618164, 0.13005900382995605, -0.14076441526412964, 0.6427594423294067]> : tensor<4xf32>, dense<[2.1025919914245605, 1.2357611656188965, 2.351767063140869, -0.4421129822731018]> : tensor<4xf32>, dense<[-0.15368403494358063, 0.9078109860420227, -0.004388429224491119, 0.9847156405448914]> : tensor<4xf32>, dense<[1.120457410812378, 1.634243369102478, 1.6941196918487549, 0.9149770140647888]> : tensor<4xf32>, dense<[-0.44232332706451416, 0.5806758403778076, -0.7766211032867432, 1.0020700693130493]> : tensor<4xf32>],
    test.tolerance = 0.000010
} {
  %e = tensor.empty() : tensor<4xf32>
  %0:20 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a, %b : tensor<4xf32>, tensor<4xf32>) outs(%e, %e, %e, %e, %e, %e, %e, %e, %e, %e, %e, %e, %e, %e, %e, %e, %e, %e, %e, %e : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%x: f32, %y: f32, %o0: f32, %o1: f32, %o2: f32, %o3: f32, %o4: f32, %o5: f32, %o6: f32, %o7: f32, %o8: f32, %o9: f32, %o10: f32, %o11: f32, %o12: f32, %o13: f32, %o14: f32, %o15: f32, %o16: f32, %o17: f32, %o18: f32, %o19: f32):
    %z = complex.create %x, %y : complex<f32>
    %n = arith.negf %y : f32
    %w = complex.create %y, %n : complex<f32>
    %log1p = complex.log1p %z : complex<f32>
    %log1p_re = complex.re %log1p : complex<f32>
    %log1p_im = complex.im %log1p : complex<f32>
    %neg = complex.neg %z : complex<f32>
    %neg_re = complex.re %neg : complex<f32>
    %neg_im = complex.im %neg : complex<f32>
    %rsqrt = complex.rsqrt %z : complex<f32>
    %rsqrt_re = complex.re %rsqrt : complex<f32>
    %rsqrt_im = complex.im %rsqrt : complex<f32>
    %sign = complex.sign %z : complex<f32>
    %sign_re = complex.re %sign : complex<f32>
    %sign_im = complex.im %sign : complex<f32>
    %sin = complex.sin %z : complex<f32>
    %sin_re = complex.re %sin : complex<f32>
    %sin_im = complex.im %sin : complex<f32>
    %sqrt = complex.sqrt %z : complex<f32>
    %sqrt_re = complex.re %sqrt : complex<f32>
    %sqrt_im = complex.im %sqrt : complex<f32>
    %tan = complex.tan %z : complex<f32>
    %tan_re = complex.re %tan : complex<f32>
    %tan_im = complex.im %tan : complex<f32>
    %tanh = complex.tanh %z : complex<f32>
    %tanh_re = complex.re %tanh : complex<f32>
    %tanh_im = complex.im %tanh : complex<f32>
    %atan2 = complex.atan2 %z, %w : complex<f32>
    %atan2_re = complex.re %atan2 : complex<f32>
    %atan2_im = complex.im %atan2 : complex<f32>
    %abs = complex.abs %z : complex<f32>
    %angle = complex.angle %z : complex<f32>
    linalg.yield %log1p_re, %log1p_im, %neg_re, %neg_im, %rsqrt_re, %rsqrt_im, %sign_re, %sign_im, %sin_re, %sin_im, %sqrt_re, %sqrt_im, %tan_re, %tan_im, %tanh_re, %tanh_im, %atan2_re, %atan2_im, %abs, %angle : f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32
  } -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return %0#0, %0#1, %0#2, %0#3, %0#4, %0#5, %0#6, %0#7, %0#8, %0#9, %0#10, %0#11, %0#12, %0#13, %0#14, %0#15, %0#16, %0#17, %0#18, %0#19 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

func.func @generic(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xi1>) attributes {
    test.in = [dense<[[1.1882777214050293, -0.12826019525527954, -0.7878702878952026], [-0.8862975239753723, -0.9805216789245605, -0.21969477832317352]]> : tensor<2x3xf32>, dense<[[0.018193036317825317, 0.21398940682411194, 1.9820011854171753], [1.1706476211547852, 0.4887169301509857, 1.9558405876159668]]> : tensor<2x3xf32>],
    test.out = [dense<[-2.7566709518432617, -1.6393606662750244]> : tensor<2xf32>, dense<[-1.8739581108093262, -4.892855167388916]> : tensor<2xf32>, dense<[true, true]> : tensor<2xi1>]
} {
  %z = stablehlo.complex %a, %b : tensor<2x3xcomplex<f32>>
  %c = complex.constant [2.0 : f32, -1.0 : f32] : complex<f32>
  %empty = tensor.empty() : tensor<2x2xcomplex<f32>>
  %init = linalg.fill ins(%c : complex<f32>) outs(%empty : tensor<2x2xcomplex<f32>>) -> tensor<2x2xcomplex<f32>>
  %turned = tensor.empty() : tensor<3x2xcomplex<f32>>
  %t = linalg.transpose ins(%z : tensor<2x3xcomplex<f32>>) outs(%turned : tensor<3x2xcomplex<f32>>) permutation = [1, 0]
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%z, %t : tensor<2x3xcomplex<f32>>, tensor<3x2xcomplex<f32>>) outs(%init : tensor<2x2xcomplex<f32>>) {
  ^bb0(%x: complex<f32>, %y: complex<f32>, %o: complex<f32>):
    %1 = complex.mul %x, %y : complex<f32>
    %2 = complex.add %o, %1 : complex<f32>
    linalg.yield %2 : complex<f32>
  } -> tensor<2x2xcomplex<f32>>
  %part = tensor.extract_slice %0[0, 1] [2, 1] [1, 1] : tensor<2x2xcomplex<f32>> to tensor<2x1xcomplex<f32>>
  %flat = tensor.collapse_shape %part [[0, 1]] : tensor<2x1xcomplex<f32>> into tensor<2xcomplex<f32>>
  %flag = tensor.empty() : tensor<2xi1>
  %same = linalg.map ins(%flat, %flat : tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) outs(%flag : tensor<2xi1>) (%x: complex<f32>, %y: complex<f32>, %old: i1) {
    %1 = complex.eq %x, %y : complex<f32>
    %2 = complex.neq %x, %y : complex<f32>
    %3 = arith.xori %1, %2 : i1
    linalg.yield %3 : i1
  }
  %r = stablehlo.real %flat : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  %i = stablehlo.imag %flat : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  return %r, %i, %same : tensor<2xf32>, tensor<2xf32>, tensor<2xi1>
}

func.func @product(%a: tensor<3x4xf32>, %b: tensor<3x4xf32>) -> (tensor<3xf32>, tensor<3xf32>) attributes {
    test.in = [dense<[[-1.1387652158737183, -1.359151840209961, 0.45015841722488403, -1.8242319822311401], [-1.8572789430618286, 0.059555280953645706, -0.1351758986711502, 1.6686711311340332], [0.5169050097465515, 0.056470587849617004, -0.012506258673965931, -1.009940266609192]]> : tensor<3x4xf32>, dense<[[-1.9528238773345947, -1.2303913831710815, 0.7681284546852112, -1.1975730657577515], [-0.5218547582626343, -1.985063076019287, 1.3201909065246582, -1.3821556568145752], [-0.9296028017997742, 1.5213285684585571, 0.03916323930025101, 1.3886009454727173]]> : tensor<3x4xf32>],
    test.out = [dense<[6.75470495223999, -12.122979164123535, 0.037906184792518616]> : tensor<3xf32>, dense<[5.951357841491699, -2.1788785457611084, -0.12204519659280777]> : tensor<3xf32>]
} {
  %z = stablehlo.complex %a, %b : tensor<3x4xcomplex<f32>>
  %c = complex.constant [1.0 : f32, 0.5 : f32] : complex<f32>
  %e = tensor.empty() : tensor<3xcomplex<f32>>
  %s = linalg.fill ins(%c : complex<f32>) outs(%e : tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%z : tensor<3x4xcomplex<f32>>) outs(%s : tensor<3xcomplex<f32>>) {
  ^bb0(%x: complex<f32>, %o: complex<f32>):
    %1 = complex.mul %o, %x : complex<f32>
    linalg.yield %1 : complex<f32>
  } -> tensor<3xcomplex<f32>>
  %r = stablehlo.real %0 : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
  %i = stablehlo.imag %0 : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
  return %r, %i : tensor<3xf32>, tensor<3xf32>
}

func.func @horner(%a: tensor<3x4xf32>, %b: tensor<3x4xf32>) -> (tensor<3xf32>, tensor<3xf32>) attributes {
    test.in = [dense<[[-1.1387652158737183, -1.359151840209961, 0.45015841722488403, -1.8242319822311401], [-1.8572789430618286, 0.059555280953645706, -0.1351758986711502, 1.6686711311340332], [0.5169050097465515, 0.056470587849617004, -0.012506258673965931, -1.009940266609192]]> : tensor<3x4xf32>, dense<[[-1.9528238773345947, -1.2303913831710815, 0.7681284546852112, -1.1975730657577515], [-0.5218547582626343, -1.985063076019287, 1.3201909065246582, -1.3821556568145752], [-0.9296028017997742, 1.5213285684585571, 0.03916323930025101, 1.3886009454727173]]> : tensor<3x4xf32>],
    test.out = [dense<[3.2174570560455322, -9.659998893737793, 1.02385675907135]> : tensor<3xf32>, dense<[4.514284610748291, -3.260531425476074, -1.274196743965149]> : tensor<3xf32>]
} {
  %z = stablehlo.complex %a, %b : tensor<3x4xcomplex<f32>>
  %c = complex.constant [1.0 : f32, 0.5 : f32] : complex<f32>
  %e = tensor.empty() : tensor<3xcomplex<f32>>
  %s = linalg.fill ins(%c : complex<f32>) outs(%e : tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%z : tensor<3x4xcomplex<f32>>) outs(%s : tensor<3xcomplex<f32>>) {
  ^bb0(%x: complex<f32>, %o: complex<f32>):
    %2 = complex.mul %o, %x : complex<f32>
    %1 = complex.sub %2, %x : complex<f32>
    linalg.yield %1 : complex<f32>
  } -> tensor<3xcomplex<f32>>
  %r = stablehlo.real %0 : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
  %i = stablehlo.imag %0 : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
  return %r, %i : tensor<3xf32>, tensor<3xf32>
}

func.func @matmul(%a: tensor<3x4xf32>, %b: tensor<3x4xf32>) -> (tensor<3x3xf32>, tensor<3x3xf32>) attributes {
    test.in = [dense<[[-1.1387652158737183, -1.359151840209961, 0.45015841722488403, -1.8242319822311401], [-1.8572789430618286, 0.059555280953645706, -0.1351758986711502, 1.6686711311340332], [0.5169050097465515, 0.056470587849617004, -0.012506258673965931, -1.009940266609192]]> : tensor<3x4xf32>, dense<[[-1.9528238773345947, -1.2303913831710815, 0.7681284546852112, -1.1975730657577515], [-0.5218547582626343, -1.985063076019287, 1.3201909065246582, -1.3821556568145752], [-0.9296028017997742, 1.5213285684585571, 0.03916323930025101, 1.3886009454727173]]> : tensor<3x4xf32>],
    test.out = [dense<[[0.3229581117630005, -6.201637268066406, 3.8606975078582764], [-6.201637268066406, -0.6102982759475708, 2.762134075164795], [3.8606975078582764, 2.762134075164795, -2.817833185195923]]> : tensor<3x3xf32>, dense<[[13.353055000305176, 8.359414100646973, -2.9036521911621094], [8.359414100646973, -2.767624855041504, 5.626496315002441], [-2.9036521911621094, 5.626496315002441, -3.0949995517730713]]> : tensor<3x3xf32>],
    test.tolerance = 0.000010
} {
  %z = stablehlo.complex %a, %b : tensor<3x4xcomplex<f32>>
  %c = complex.constant [1.0 : f32, 0.5 : f32] : complex<f32>
  %e = tensor.empty() : tensor<3x3xcomplex<f32>>
  %s = linalg.fill ins(%c : complex<f32>) outs(%e : tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
  %0 = linalg.matmul_transpose_b ins(%z, %z : tensor<3x4xcomplex<f32>>, tensor<3x4xcomplex<f32>>) outs(%s : tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
  %r = stablehlo.real %0 : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xf32>
  %i = stablehlo.imag %0 : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xf32>
  return %r, %i : tensor<3x3xf32>, tensor<3x3xf32>
}

func.func @contract(%a: tensor<3x4xf32>, %b: tensor<3x4xf32>) -> (tensor<3x3xf32>, tensor<3x3xf32>) attributes {
    test.in = [dense<[[-1.1387652158737183, -1.359151840209961, 0.45015841722488403, -1.8242319822311401], [-1.8572789430618286, 0.059555280953645706, -0.1351758986711502, 1.6686711311340332], [0.5169050097465515, 0.056470587849617004, -0.012506258673965931, -1.009940266609192]]> : tensor<3x4xf32>, dense<[[-1.9528238773345947, -1.2303913831710815, 0.7681284546852112, -1.1975730657577515], [-0.5218547582626343, -1.985063076019287, 1.3201909065246582, -1.3821556568145752], [-0.9296028017997742, 1.5213285684585571, 0.03916323930025101, 1.3886009454727173]]> : tensor<3x4xf32>],
    test.out = [dense<[[0.3229581117630005, -6.201637268066406, 3.8606975078582764], [-6.201637268066406, -0.6102982759475708, 2.762134075164795], [3.8606975078582764, 2.762134075164795, -2.817833185195923]]> : tensor<3x3xf32>, dense<[[13.353055000305176, 8.359414100646973, -2.9036521911621094], [8.359414100646973, -2.767624855041504, 5.626496315002441], [-2.9036521911621094, 5.626496315002441, -3.0949995517730713]]> : tensor<3x3xf32>],
    test.tolerance = 0.000010
} {
  %z = stablehlo.complex %a, %b : tensor<3x4xcomplex<f32>>
  %c = complex.constant [1.0 : f32, 0.5 : f32] : complex<f32>
  %e = tensor.empty() : tensor<3x3xcomplex<f32>>
  %s = linalg.fill ins(%c : complex<f32>) outs(%e : tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
  %0 = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (n, m)>] ins(%z, %z : tensor<3x4xcomplex<f32>>, tensor<3x4xcomplex<f32>>) outs(%s : tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
  %r = stablehlo.real %0 : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xf32>
  %i = stablehlo.imag %0 : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xf32>
  return %r, %i : tensor<3x3xf32>, tensor<3x3xf32>
}

func.func @reduce(%a: tensor<3x4xf32>, %b: tensor<3x4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {
    test.in = [dense<[[-1.1387652158737183, -1.359151840209961, 0.45015841722488403, -1.8242319822311401], [-1.8572789430618286, 0.059555280953645706, -0.1351758986711502, 1.6686711311340332], [0.5169050097465515, 0.056470587849617004, -0.012506258673965931, -1.009940266609192]]> : tensor<3x4xf32>, dense<[[-1.9528238773345947, -1.2303913831710815, 0.7681284546852112, -1.1975730657577515], [-0.5218547582626343, -1.985063076019287, 1.3201909065246582, -1.3821556568145752], [-0.9296028017997742, 1.5213285684585571, 0.03916323930025101, 1.3886009454727173]]> : tensor<3x4xf32>],
    test.out = [dense<[3.9089314937591553, -2.2902536392211914, 0.01835094578564167, 7.546543121337891]> : tensor<4xf32>, dense<[3.4084644317626953, -5.758406162261963, -0.05111386626958847, -5.043771266937256]> : tensor<4xf32>]
} {
  %z = stablehlo.complex %a, %b : tensor<3x4xcomplex<f32>>
  %c = complex.constant [1.0 : f32, 0.5 : f32] : complex<f32>
  %e = tensor.empty() : tensor<4xcomplex<f32>>
  %s = linalg.fill ins(%c : complex<f32>) outs(%e : tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  %0 = linalg.reduce ins(%z : tensor<3x4xcomplex<f32>>) outs(%s : tensor<4xcomplex<f32>>) dimensions = [0] (%x: complex<f32>, %o: complex<f32>) {
    %1 = complex.mul %x, %o : complex<f32>
    linalg.yield %1 : complex<f32>
  }
  %r = stablehlo.real %0 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %i = stablehlo.imag %0 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  return %r, %i : tensor<4xf32>, tensor<4xf32>
}

func.func @window(%a: tensor<3x4xf32>, %b: tensor<3x4xf32>) -> (tensor<3x3xf32>, tensor<3x3xf32>) attributes {
    test.in = [dense<[[-1.1387652158737183, -1.359151840209961, 0.45015841722488403, -1.8242319822311401], [-1.8572789430618286, 0.059555280953645706, -0.1351758986711502, 1.6686711311340332], [0.5169050097465515, 0.056470587849617004, -0.012506258673965931, -1.009940266609192]]> : tensor<3x4xf32>, dense<[[-1.9528238773345947, -1.2303913831710815, 0.7681284546852112, -1.1975730657577515], [-0.5218547582626343, -1.985063076019287, 1.3201909065246582, -1.3821556568145752], [-0.9296028017997742, 1.5213285684585571, 0.03916323930025101, 1.3886009454727173]]> : tensor<3x4xf32>],
    test.out = [dense<[[-1.4979171752929688, 0.0910065770149231, -0.37407350540161133], [-0.797723650932312, 0.9243793487548828, 2.5334951877593994], [1.5733755826950073, 1.0439643859863281, -0.022446513175964355]]> : tensor<3x3xf32>, dense<[[-2.6832151412963867, 0.03773707151412964, 0.07055538892745972], [-2.006917953491211, -0.1648721694946289, 0.438035249710083], [1.0917258262634277, 2.0604918003082275, 1.9277641773223877]]> : tensor<3x3xf32>]
} {
  %z = stablehlo.complex %a, %b : tensor<3x4xcomplex<f32>>
  %c = complex.constant [1.0 : f32, 0.5 : f32] : complex<f32>
  %e = tensor.empty() : tensor<3x3xcomplex<f32>>
  %w = tensor.empty() : tensor<2xf32>
  %s = linalg.fill ins(%c : complex<f32>) outs(%e : tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j + k)>, affine_map<(i, j, k) -> (k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%z, %w : tensor<3x4xcomplex<f32>>, tensor<2xf32>) outs(%s : tensor<3x3xcomplex<f32>>) {
  ^bb0(%x: complex<f32>, %y: f32, %o: complex<f32>):
    %1 = complex.add %o, %x : complex<f32>
    linalg.yield %1 : complex<f32>
  } -> tensor<3x3xcomplex<f32>>
  %r = stablehlo.real %0 : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xf32>
  %i = stablehlo.imag %0 : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xf32>
  return %r, %i : tensor<3x3xf32>, tensor<3x3xf32>
}

// Rows of math on tensors.
// Written by cases_rows.py.

func.func @floats(%a: tensor<5xf32>, %b: tensor<5xf32>, %c: tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>) attributes {
    test.in = [dense<[1.7722244262695312, 0.045310210436582565, 1.9049748182296753, -1.676655888557434, 0.42942333221435547]> : tensor<5xf32>, dense<[-0.22232414782047272, 0.5434221625328064, -0.585849940776825, 0.668943464756012, 0.07909452170133591]> : tensor<5xf32>, dense<[3.716423749923706, 2.4837453365325928, 2.3484392166137695, 3.3879454135894775, 3.9540436267852783]> : tensor<5xf32>],
    test.out = [dense<[1.7722244262695312, 0.045310210436582565, 1.9049748182296753, 1.676655888557434, 0.42942333221435547]> : tensor<5xf32>, dense<[2.0, 1.0, 2.0, -1.0, 1.0]> : tensor<5xf32>, dense<[-0.20006875693798065, 0.9989736676216125, -0.3279932141304016, -0.10566195845603943, 0.909205973148346]> : tensor<5xf32>, dense<[3.0269408226013184, 1.0010267496109009, 3.434032440185547, 2.7673206329345703, 1.0936278104782104]> : tensor<5xf32>, dense<[3.415802240371704, 1.0319050550460815, 3.745023727416992, 0.3128068745136261, 1.3466951847076416]> : tensor<5xf32>, dense<[4.883927345275879, 0.04635239765048027, 5.71923828125, -0.8130017518997192, 0.5363712906837463]> : tensor<5xf32>, dense<[1.0, 0.0, 1.0, -2.0, 0.0]> : tensor<5xf32>, dense<[0.9797818660736084, 0.045294709503650665, 0.9446800947189331, -0.9944021105766296, 0.41634654998779297]> : tensor<5xf32>, dense<[2.8569862842559814, 0.045325715094804764, 3.285205841064453, -2.580322265625, 0.4427434504032135]> : tensor<5xf32>, dense<[-0.22606106102466583, 0.6040909886360168, -0.6635617017745972, 0.7905359268188477, 0.07925987243652344]> : tensor<5xf32>, dense<[1.0, 0.0, 1.0, -1.0, 0.0]> : tensor<5xf32>, dense<[1.210150957107544, 0.35650476813316345, 1.2396423816680908, -1.1879950761795044, 0.7544466257095337]> : tensor<5xf32>, dense<[1.0570688247680664, 0.04527924209833145, 1.087395429611206, -1.03300940990448, 0.4056112766265869]> : tensor<5xf32>, dense<[1.33687162399292, 0.04529472067952156, 1.4003130197525024, -1.288923740386963, 0.41721367835998535]> : tensor<5xf32>, dense<[0.9877999424934387, 0.051092129200696945, 0.9929408431053162, -0.9822671413421631, 0.45634570717811584]> : tensor<5xf32>, dense<[0.012200074270367622, 0.9489078521728516, 0.007059143390506506, 1.982267141342163, 0.5436543226242065]> : tensor<5xf32>, dense<[2.0, 0.0, 2.0, -2.0, 0.0]> : tensor<5xf32>, dense<[2.0, 0.0, 2.0, -2.0, 0.0]> : tensor<5xf32>, dense<[1.7949939966201782, 0.9962879419326782, 2.1967248916625977, 0.8380098342895508, 1.4916191101074219]> : tensor<5xf32>, dense<[-0.2241976261138916, 0.5745084285736084, -0.6259284615516663, 0.7327865362167358, 0.07917722314596176]> : tensor<5xf32>, dense<[-0.22609978914260864, 0.6089991331100464, -0.6713237166404724, 0.8088284730911255, 0.07926008105278015]> : tensor<5xf32>, dense<[1.9872963428497314, 1.5596774816513062, 1.4981334209442139, 1.8908421993255615, 2.0514979362487793]> : tensor<5xf32>, dense<[1.312761902809143, 0.9097676277160645, 0.8537509441375732, 1.2202236652374268, 1.3747388124465942]> : tensor<5xf32>, dense<[0.5701252818107605, 0.39510709047317505, 0.3707793354988098, 0.5299364328384399, 0.5970414876937866]> : tensor<5xf32>, dense<[1.5510507822036743, 1.24810791015625, 1.2084943056106567, 1.4788610935211182, 1.6002041101455688]> : tensor<5xf32>, dense<[1.893915057182312, 1.3125172853469849, 1.231702208518982, 1.7604106664657593, 1.9833288192749023]> : tensor<5xf32>, dense<[0.5187252759933472, 0.6345216631889343, 0.6525448560714722, 0.5432901382446289, 0.5028972625732422]> : tensor<5xf32>, dense<[10.242119789123535, 1.0420831441879272, 5.08540153503418, 0.12926442921161652, 1.8046107292175293]> : tensor<5xf32>, dense<[1.6955935955047607, 0.08318697661161423, 1.8691532611846924, -1.1911741495132446, 1.3886500597000122]> : tensor<5xf32>, dense<[1.7722244262695312, 0.5434221625328064, 1.9049748182296753, 0.668943464756012, 0.42942333221435547]> : tensor<5xf32>],
    test.tolerance = 0.000010
} {
  %r0 = math.absf %a : tensor<5xf32>
  %r1 = math.ceil %a : tensor<5xf32>
  %r2 = math.cos %a : tensor<5xf32>
  %r3 = math.cosh %a : tensor<5xf32>
  %r4 = math.exp2 %a : tensor<5xf32>
  %r5 = math.expm1 %a : tensor<5xf32>
  %r6 = math.floor %a : tensor<5xf32>
  %r7 = math.sin %a : tensor<5xf32>
  %r8 = math.sinh %a : tensor<5xf32>
  %r9 = math.tan %b : tensor<5xf32>
  %r10 = math.trunc %a : tensor<5xf32>
  %r11 = math.cbrt %a : tensor<5xf32>
  %r12 = math.atan %a : tensor<5xf32>
  %r13 = math.asinh %a : tensor<5xf32>
  %r14 = math.erf %a : tensor<5xf32>
  %r15 = math.erfc %a : tensor<5xf32>
  %r16 = math.roundeven %a : tensor<5xf32>
  %r17 = math.round %a : tensor<5xf32>
  %r18 = math.acos %b : tensor<5xf32>
  %r19 = math.asin %b : tensor<5xf32>
  %r20 = math.atanh %b : tensor<5xf32>
  %r21 = math.acosh %c : tensor<5xf32>
  %r22 = math.log %c : tensor<5xf32>
  %r23 = math.log10 %c : tensor<5xf32>
  %r24 = math.log1p %c : tensor<5xf32>
  %r25 = math.log2 %c : tensor<5xf32>
  %r26 = math.rsqrt %c : tensor<5xf32>
  %r27 = math.powf %c, %a : tensor<5xf32>
  %r28 = math.atan2 %a, %b : tensor<5xf32>
  %r29 = math.clampf %a to [%b, %c] : tensor<5xf32>
  return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17, %r18, %r19, %r20, %r21, %r22, %r23, %r24, %r25, %r26, %r27, %r28, %r29 : tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>
}

func.func @sincos(%a: tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>) attributes {
    test.in = [dense<[1.7722244262695312, 0.045310210436582565, 1.9049748182296753, -1.676655888557434, 0.42942333221435547]> : tensor<5xf32>],
    test.out = [dense<[0.9797818660736084, 0.045294709503650665, 0.9446800947189331, -0.9944021105766296, 0.41634654998779297]> : tensor<5xf32>, dense<[-0.20006875693798065, 0.9989736676216125, -0.3279932141304016, -0.10566195845603943, 0.909205973148346]> : tensor<5xf32>]
} {
  %0, %1 = math.sincos %a : tensor<5xf32>
  return %0, %1 : tensor<5xf32>, tensor<5xf32>
}

func.func @tests(%a: tensor<6xf32>) -> (tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>) attributes {
    test.in = [dense<[1.0, 0x7F800000, 0xFF800000, 0x7FC00000, 0.0, 1.0005271035279194e-42]> : tensor<6xf32>],
    test.out = [dense<[true, false, false, false, true, true]> : tensor<6xi1>, dense<[false, true, true, false, false, false]> : tensor<6xi1>, dense<[false, false, false, true, false, false]> : tensor<6xi1>, dense<[true, false, false, false, false, false]> : tensor<6xi1>]
} {
  %r0 = math.isfinite %a : tensor<6xf32>
  %r1 = math.isinf %a : tensor<6xf32>
  %r2 = math.isnan %a : tensor<6xf32>
  %r3 = math.isnormal %a : tensor<6xf32>
  return %r0, %r1, %r2, %r3 : tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>
}

func.func @integers(%a: tensor<5xi32>, %b: tensor<5xi32>) -> (tensor<5xi32>, tensor<5xi32>, tensor<5xi32>, tensor<5xi32>) attributes {
    test.in = [dense<[1, 0, -5, 64, 1000]> : tensor<5xi32>, dense<[3, 2, 3, 2, 1]> : tensor<5xi32>],
    test.out = [dense<[31, 32, 0, 25, 22]> : tensor<5xi32>, dense<[1, 0, 31, 1, 6]> : tensor<5xi32>, dense<[0, 32, 0, 6, 3]> : tensor<5xi32>, dense<[1, 0, -125, 4096, 1000]> : tensor<5xi32>]
} {
  %r0 = math.ctlz %a : tensor<5xi32>
  %r1 = math.ctpop %a : tensor<5xi32>
  %r2 = math.cttz %a : tensor<5xi32>
  %r3 = math.ipowi %a, %b : tensor<5xi32>
  return %r0, %r1, %r2, %r3 : tensor<5xi32>, tensor<5xi32>, tensor<5xi32>, tensor<5xi32>
}
